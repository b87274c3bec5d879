// Plays a customer whose payment goes wrong, and tells each step as it happens. It uses the pages of the shop as a browser
// does, and the service's script for the card, a public test card.
"use strict";
(() => {
  const scenarios = document.getElementById("scenarios"), steps = document.getElementById("steps");
  const buttons = [...scenarios.querySelectorAll("button")];
  const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

  const tell = (text, href) => {
    const step = document.createElement("li");
    step.append(text);
    if (href) {
      const link = document.createElement("a");
      Object.assign(link, { href, textContent: "Open the order" });
      step.append(" ", link);
    }
    steps.append(step);
  };

  const load = async (address, fields) => {
    const answer = await fetch(address, { cache: "no-store", ...(fields && { method: "POST", body: new URLSearchParams(fields) }) });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return { path: new URL(answer.url).pathname, status: answer.status, page };
  };
  const field = ({ page }, name) => page.querySelector(`input[name="${name}"]`)?.value ?? "";
  const heading = ({ page }) => (page.querySelector("#status h2") ?? page.querySelector("h1"))?.textContent ?? "";
  const ledger = async (order) => (await load(`/trouble/bar?${new URLSearchParams({ order })}`)).page.querySelector("#bar-news p:last-child").textContent;

  const turn = async (name, on) => {
    const { page } = await load("/trouble/now");
    if (page.querySelector("[data-on]").dataset.on.split(" ").includes(name) === on) return;
    await load("/trouble", { form: scenarios.dataset.form, switch: name });
  };

  const cardToken = () => new Promise((resolve, reject) => {
    const card = document.createElement("fieldset");
    for (const [name, value] of Object.entries({ cardholderName: "A Customer", cardNumber: "4242424242424242", expiryDateMonth: "12", expiryDateYear: "2099", cvn: "123" })) {
      const input = document.createElement("input");
      Object.assign(input, { value }).dataset.quickstreamApi = name;
      card.append(input);
    }
    QuickstreamAPI.init({ publishableApiKey: scenarios.dataset.key });
    QuickstreamAPI.creditCards.getToken(card, scenarios.dataset.business, (errors, data) => {
      if (errors) reject(new Error("The service does not take the card. Nothing was charged."));
      else resolve(data.singleUseToken.singleUseTokenId);
    }, { threeDS2: true });
  });

  const waits = {
    "lost-after": "The service takes the money, and its answers are lost. The library sends the payment again with the same key, which charges nothing twice. The shop waits for an answer.",
    "kill-in-payment": "As the service takes the money, the program is killed. It starts again in a second.",
  };

  const play = async (name) => {
    tell("A customer puts coffee beans into an order.");
    const checkout = await load("/orders", { form: field(await load("/"), "form"), item: "beans" });
    const order = checkout.path.split("/").pop(), address = `/orders/${order}`;
    await turn(name, true);
    tell(`They press “Pay” for order ${order}. ${waits[name]}`);
    let shown = await load(`${address}/pay`, {
      form: field(checkout, "form"), payment: field(checkout, "payment"), token: await cardToken(),
      street: "1 Example Street", city: "Sydney", state: "NSW", postcode: "2000",
    });
    tell(`The customer reads: “${heading(shown)}”.`);
    tell(await ledger(order));
    if (name === "lost-after") {
      await turn(name, false);
      tell("Answers arrive again. The shop asks the service what became of the payment, within half a minute.");
    }
    for (let last = heading(shown); shown.page.querySelector("#status")?.dataset.state !== "approved"; await pause(500)) {
      shown = await load(address);
      if (heading(shown) !== last) tell(`The customer reads: “${heading(shown)}”.`);
      last = heading(shown);
    }
    tell(await ledger(order), address);
  };

  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      buttons.forEach((each) => { each.disabled = true; });
      steps.replaceChildren();
      await play(button.dataset.scenario).catch((failure) => tell(failure.message));
      buttons.forEach((each) => { each.disabled = false; });
    });
  }
})();
