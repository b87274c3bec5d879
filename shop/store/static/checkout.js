// Makes a single-use token of the card in the browser, so that no card number reaches the
// shop, and sends the token with the form.
//
// UNCONFIRMED: the names init, creditCards.getToken and the data-quickstream-api attributes
// are the ones that public pages use with the service's own script; the fourth argument of
// getToken, which asks for 3D Secure, is this sandbox's. The real service answers no
// direct calls from pages: everything goes through its script, and what the stand-in
// does inside does not work in production.
"use strict";
(() => {
  const form = document.getElementById("pay");
  if (!form) return;
  const card = document.getElementById("card");
  const button = document.getElementById("pay-button");
  const status = document.getElementById("card-status");
  const inputs = [...card.querySelectorAll("input")];

  window.addEventListener("pageshow", () => { form.elements.token.value = ""; });

  const show = (errors) => {
    button.disabled = false;
    let first;
    for (const error of errors) {
      const input = inputs.find((i) => i.dataset.quickstreamApi === error.fieldName);
      if (!input) continue;
      input.setAttribute("aria-invalid", "true");
      // What the service says of a field may go on from its name.
      document.getElementById(input.id + "-error").textContent = error.messages.map((message) => (/^[a-z]/.test(message) ? `${input.labels[0].textContent} ${message}` : message)).join(" ");
      first = first || input;
    }
    if (first) {
      status.textContent = "Nothing was charged. Check the card's details.";
      first.focus();
    } else {
      status.textContent = "The payment service does not answer as it should. Nothing was charged. Try again in a moment.";
    }
  };

  // What the service need not be asked for.
  const missing = () => inputs
    .filter((input) => !(input.inputMode === "numeric" ? /^[0-9 ]*[0-9][0-9 ]*$/ : /\S/).test(input.value))
    .map((input) => ({ fieldName: input.dataset.quickstreamApi, messages: [input.value ? "Only digits, please." : "Fill this in, please."] }));

  const clear = () => inputs.forEach((input) => {
    input.removeAttribute("aria-invalid");
    document.getElementById(input.id + "-error").textContent = "";
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    clear();
    const errors = missing();
    if (errors.length > 0) {
      show(errors);
      return;
    }
    button.disabled = true;
    status.textContent = "Checking the card…";
    if (!window.QuickstreamAPI) {
      show([]);
      return;
    }
    QuickstreamAPI.init({ publishableApiKey: form.dataset.key });
    QuickstreamAPI.creditCards.getToken(card, form.dataset.business, (refused, data) => {
      if (refused) {
        show(refused);
        return;
      }
      inputs.forEach((input) => { input.value = ""; });
      status.textContent = "Paying…";
      form.elements.token.value = data.singleUseToken.singleUseTokenId;
      form.dataset.sent = "yes";
      form.submit(); // once: the button stays as it is
    }, { threeDS2: true });
  });

  // The fields are in no form, so that Enter does nothing by itself.
  card.addEventListener("keydown", (event) => {
    if (event.key === "Enter") form.requestSubmit();
  });
})();
