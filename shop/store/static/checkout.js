// Makes a single-use token of the card in the browser, so that no card number reaches the
// shop, and sends the token with the form.
//
// UNCONFIRMED: the names init, creditCards.getToken and the data-quickstream-api attributes
// are the ones that public pages use with the service's own script; the fourth argument of
// getToken, which asks for 3D Secure, is this sandbox's. The real service answers no
// direct calls from pages: everything goes through its script, and what the stand-in
// does inside does not work in production.
//
// The page's body waits for this script, so that no press comes before it. The service's script is waited for by nothing
// but a press, which is carried out once.
"use strict";
(() => {
  const { service } = document.currentScript.dataset;
  const patience = 20000;
  const named = (id) => document.getElementById(id);
  const digits = (text) => text.replace(/\D/g, "");
  const say = (text) => named("card-status")?.replaceChildren(text);

  // A script that could not be loaded is asked for again by the next press.
  let loading = null;
  const load = () => {
    if (window.QuickstreamAPI) return undefined;
    loading ??= new Promise((done) => {
      const script = document.createElement("script");
      document.head.append(Object.assign(script, { src: service, onload: done, onerror: done }));
    }).then(() => { loading = null; });
    return loading;
  };

  // How the digits of a card are grouped, and how many its security code has.
  const brands = [
    { name: "Visa", prefix: /^4/ },
    { name: "Mastercard", prefix: /^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/ },
    { name: "American Express", prefix: /^3[47]/, groups: [4, 6, 5], code: 4 },
    { name: "Diners Club", prefix: /^3(0[0-5]|[689])/, groups: [4, 6, 4] },
    { name: "JCB", prefix: /^35/ },
    { name: "UnionPay", prefix: /^62/ },
  ];
  const brandOf = (number) => ({ name: "", groups: [4, 4, 4, 4, 3], code: 3, ...brands.find(({ prefix }) => prefix.test(digits(number))) });

  // What a field shows of what was typed.
  const formats = {
    number(text) {
      let rest = digits(text);
      const parts = brandOf(text).groups.map((size) => {
        const part = rest.slice(0, size);
        rest = rest.slice(size);
        return part;
      });
      return parts.filter((part) => part !== "").join(" ");
    },
    expiry(text, deleted) {
      if (deleted) return text.replace(/\D+$/, "");
      const full = text.replace(/^([2-9]|1(?=\/))/, "0$1"), all = digits(full);
      return all.length > 2 || /^\d\d\/$/.test(full) ? `${all.slice(0, 2)}/${all.slice(2, 6)}` : all;
    },
    cvn: (text) => digits(text),
  };

  // The caret stays before the digits that it was before.
  document.addEventListener("input", ({ target: input, inputType = "" }) => {
    if (named(`${input.id}-error`)) mark(input, "");
    if (!named("card")?.disabled) say("");
    if (input.id === "number") named("brand").textContent = brandOf(input.value).name;
    const text = formats[input.id]?.(input.value, inputType.startsWith("delete"));
    if (text === undefined || text === input.value) return;
    let after = digits(input.value.slice(input.selectionEnd)).length, at = text.length;
    input.value = text;
    for (; after > 0; at--) if (/\d/.test(text[at - 1])) after--;
    input.setSelectionRange(at, at);
  });

  document.addEventListener("keydown", ({ target: input, key }) => {
    if (!input.closest("#card")) return;
    if (key === "Enter") named("pay").requestSubmit(); // the fields are in no form
    // What stands between the digits is passed over, or deleting it would bring it back.
    const at = input.selectionStart, step = { Backspace: -1, Delete: 1 }[key];
    if (step && at === input.selectionEnd && /[ /]/.test(input.value[step < 0 ? at - 1 : at])) input.setSelectionRange(at + step, at + step);
  });

  const sumOfDigits = (number) => [...number].reverse().reduce((sum, digit, i) => sum + (i % 2 ? [0, 2, 4, 6, 8, 1, 3, 5, 7, 9][digit] : Number(digit)), 0);
  const expiryOf = (text) => /^(0[1-9]|1[0-2])\/(?:20)?(\d\d)$/.exec(text)?.slice(1) ?? [];

  // What the service need not be asked for.
  const problems = {
    number: (text) => (digits(text).length < 12 || sumOfDigits(digits(text)) % 10 !== 0) && "This is not the number of a card. Compare its digits.",
    expiry(text) {
      const [month, year] = expiryOf(text), now = new Date();
      if (!month) return "Month and year as on the card, such as 03/29, please.";
      return 2000 + Number(year) + month / 12 < now.getFullYear() + (now.getMonth() + 1) / 12 && "The card has expired.";
    },
    cvn(text) {
      const { code } = brandOf(named("number").value);
      return text.length !== code && `The ${code} digits on the ${code === 4 ? "front" : "back"} of the card, please.`;
    },
    payid: () => named("payid").validity.typeMismatch && "This is not an e-mail address.",
  };
  const problemOf = (input) => {
    if (input.value.trim() === "") return input.required ? "Fill this in, please." : "";
    return problems[input.id]?.(input.value) || "";
  };

  const mark = (input, text) => {
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    named(`${input.id}-error`).textContent = text;
  };

  // Shows all problems at once, and leads to the first.
  const show = (inputs, problem) => {
    for (const input of inputs) mark(input, problem(input));
    const first = inputs.find((input) => input.getAttribute("aria-invalid"));
    first?.focus();
    return Boolean(first);
  };

  // What the service says of a field may go on from its name. Month and year are one field here.
  const said = (errors) => (input) => {
    const names = input.id === "expiry" ? ["expiryDateMonth", "expiryDateYear"] : [input.dataset.quickstreamApi];
    return errors.filter(({ fieldName }) => names.includes(fieldName)).flatMap(({ messages }) => messages)
      .map((message) => (/^[a-z]/.test(message) ? `${input.labels[0].textContent} ${message}` : message)).join(" ");
  };

  const checkDetails = "Nothing was charged. Check what is marked.";
  const noAnswer = "The payment service does not answer as it should. Nothing was charged. Try again in a moment.";

  const pay = async (form, card, inputs) => {
    const button = named("pay-button");
    card.disabled = button.disabled = true;
    const stop = (text) => {
      card.disabled = button.disabled = false;
      say(text);
    };
    if (!window.QuickstreamAPI) say("The payment service's part of this page is still on its way. Your payment begins by itself when it is here.");
    await Promise.race([load(), new Promise((late) => { setTimeout(late, patience); })]);
    if (!window.QuickstreamAPI) {
      stop(noAnswer);
      return;
    }
    say("Checking the card…");
    [named("month").value, named("year").value] = expiryOf(named("expiry").value);
    QuickstreamAPI.init({ publishableApiKey: form.dataset.key });
    QuickstreamAPI.creditCards.getToken(card, form.dataset.business, (refused, data) => {
      if (refused) {
        stop(checkDetails);
        if (!show(inputs, said(refused))) say(noAnswer);
        return;
      }
      for (const input of card.elements) input.value = "";
      say("Paying…");
      form.elements.token.value = data.singleUseToken.singleUseTokenId;
      form.dataset.sent = "yes";
      form.submit(); // once: the button stays as it is
    }, { threeDS2: true });
  };

  document.addEventListener("submit", (event) => {
    const form = event.target, card = form.id === "pay" ? named("card") : null;
    if (card) event.preventDefault();
    if (card?.disabled) return;
    const inputs = [...(card?.elements ?? []), ...form.elements].filter((input) => named(`${input.id}-error`));
    if (show(inputs, problemOf)) {
      event.preventDefault();
      event.stopImmediatePropagation(); // it is not sent, and can be pressed again
      say(card ? checkDetails : "");
      return;
    }
    keep();
    if (card) pay(form, card, inputs);
  });

  // What was entered is kept in this tab, for a page that says why it was not taken. The card's fields have no name, and
  // are not kept.
  const kept = () => [...document.querySelectorAll("main input[name]:not([type=hidden])")];
  const keep = () => sessionStorage.setItem("checkout", JSON.stringify(kept().map(({ id, value, checked }) => ({ id, value, checked }))));
  const restore = () => {
    const values = JSON.parse(sessionStorage.getItem("checkout") ?? "[]");
    sessionStorage.removeItem("checkout");
    if (!named("notice")) return;
    for (const { id, value, checked } of values) if (named(id)) Object.assign(named(id), { value, checked });
  };

  document.addEventListener("click", ({ target }) => {
    const number = target.closest("[data-test-card]")?.dataset.testCard;
    if (!number) return;
    const year = String(new Date().getFullYear() + 3).slice(2);
    for (const [id, value] of Object.entries({ cardholder: "Alex Example", number, expiry: `12/${year}`, cvn: "1234".slice(0, brandOf(number).code) })) {
      named(id).value = value;
      named(id).dispatchEvent(new Event("input", { bubbles: true }));
    }
    named("pay-button").focus();
  });

  document.addEventListener("DOMContentLoaded", () => {
    for (const form of document.querySelectorAll("main form")) form.noValidate = true; // problems are shown here
    for (const button of document.querySelectorAll("[data-test-card]")) button.hidden = false;
    restore();
    if (named("pay")) load();
  });
  window.addEventListener("pageshow", () => { if (named("pay")) named("pay").elements.token.value = ""; });
})();
