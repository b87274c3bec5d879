// Shows the challenge of the card's bank in a frame, by the service's own script, and then
// has the shop ask the service how it ended: what the browser says about that counts
// for nothing.
//
// UNCONFIRMED: createChallengeFrame, its options and callbacks are the ones that public
// pages use; the element that the frame is put into is this sandbox's.
"use strict";
(() => {
  const challenge = document.getElementById("challenge");
  const form = document.getElementById("authenticated");
  const status = document.getElementById("challenge-status");
  let frame, sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  const done = () => {
    if (frame) frame.destroy();
    status.textContent = "Asking your bank…";
    form.requestSubmit();
  };
  const failed = () => { status.textContent = "Your bank's page cannot be shown. Nothing was charged."; };
  if (!window.QuickstreamAPI) {
    failed();
    return;
  }
  QuickstreamAPI.init({ publishableApiKey: challenge.dataset.key });
  QuickstreamAPI.creditCards.createChallengeFrame({
    singleUseTokenId: challenge.dataset.token, challengeWindowSize: "04", challengeMode: "callback", onSuccess: done, onFailure: done,
  }, (errors, data) => {
    if (errors) failed();
    else frame = data;
  });
})();
