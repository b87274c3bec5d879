// Keeps a page up to date, and has the service's script make a token of a card.
"use strict";
(() => {
  const lost = document.getElementById("lost");
  let reading = false, again = false;

  const say = (text) => {
    if (lost.textContent !== text) lost.textContent = text;
    lost.hidden = text === "";
  };
  const isLost = () => say(`The connection to the shop is lost. What you see is as it was on ${document.getElementById("at").textContent}.`);

  // The parts that differ take the place of the old ones. A form that is still the same stays as it was filled in.
  const show = (fresh) => {
    for (const part of fresh.querySelectorAll("[data-part]")) {
      const old = document.getElementById(part.id);
      if (!old || (part.dataset.mark === undefined ? old.outerHTML === part.outerHTML : old.dataset.mark === part.dataset.mark)) continue;
      const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
      if (part.dataset.mark !== undefined) old.dataset.mark = part.dataset.mark;
      old.className = part.className;
      old.replaceChildren(...part.childNodes);
      if (focused) document.getElementById(focused)?.focus();
    }
    document.body.dataset.version = fresh.body.dataset.version;
    document.getElementById("at").textContent = fresh.getElementById("at").textContent;
    prepare();
    say("");
  };
  const read = async () => {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    do {
      again = false;
      try {
        const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(10000) });
        if (!answer.ok) throw new Error(answer.statusText);
        show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } catch {
        isLost();
      }
    } while (again);
    reading = false;
  };
  const hear = ({ lost: gone, version }) => {
    if (gone) isLost();
    else if (version && (version !== document.body.dataset.version || !lost.hidden)) read();
  };
  if (window.SharedWorker) {
    const { port } = new SharedWorker("/static/stream.js");
    port.onmessage = (event) => hear(event.data);
    window.addEventListener("pagehide", () => port.postMessage("bye"));
  } else {
    setInterval(read, 3000);
  }
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.id === "card") {
      event.preventDefault(); // the inputs have no names: no card number reaches the shop
      pay(form);
    } else if (form.classList.contains("once")) {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "yes";
    }
  });
  document.addEventListener("click", (event) => {
    const number = event.target.closest("[data-card]")?.dataset.card;
    if (!number) return;
    const values = { cardholderName: "Ann Example", cardNumber: number.replace(/(\d{4})(?=\d)/g, "$1 "), expiryDateMonth: "03", expiryDateYear: "2035", cvn: "123" };
    for (const input of document.querySelectorAll("#card [data-quickstream-api]")) input.value = values[input.dataset.quickstreamApi];
  });

  let script;
  const prepare = () => {
    const form = document.getElementById("card");
    if (!form || script) return;
    script = document.createElement("script");
    script.src = `${form.dataset.service}/rest/v1/quickstream-api-1.0.min.js`;
    document.head.append(script);
  };
  const pay = (form) => {
    const says = document.getElementById("card-says"), button = form.querySelector("[type=submit]");
    const stop = (text) => {
      says.textContent = text;
      button.disabled = false;
      document.querySelector(".challenge")?.replaceChildren();
    };
    if (button.disabled) return;
    if (!window.QuickstreamAPI) {
      stop("The payment service cannot be reached by your browser. You have paid nothing.");
      return;
    }
    button.disabled = true;
    says.textContent = "";
    QuickstreamAPI.init({ publishableApiKey: form.dataset.key });
    QuickstreamAPI.creditCards.getToken(form, form.dataset.business, (errors, data) => {
      if (errors) stop(errors.map((e) => e.messages.join(" ")).join(" "));
      else send(data.singleUseToken.singleUseTokenId);
    }, { threeDS2: true });
    const send = async (token) => {
      let answer;
      try {
        answer = await (await fetch(form.action, { method: "POST", body: new URLSearchParams({ singleUseTokenId: token, attempt: form.dataset.attempt }) })).json();
      } catch {
        stop("The shop did not answer. You may have paid: load this page again before you pay.");
        return;
      }
      if (answer.next === "challenge") {
        QuickstreamAPI.creditCards.createChallengeFrame({
          singleUseTokenId: token,
          onSuccess: () => send(token), // only the shop's own question to the service counts
          onFailure: () => stop("Your bank did not confirm that it is you. You have paid nothing."),
        }, (failed) => { if (failed) stop("Your bank cannot be asked. You have paid nothing."); else document.querySelector(".challenge iframe").focus(); });
        return;
      }
      stop(answer.text ?? "");
      read();
    };
  };
  prepare();
})();
