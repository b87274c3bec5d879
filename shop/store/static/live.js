// Keeps a page true. One shown page of the browser holds the stream of its visitor, and passes on to the others that
// something has changed. A hidden page holds nothing, and reads itself again when it is shown. A page reads itself as a
// whole, and the parts that differ take the place of the old ones. durable's console does the same.
"use strict";
(() => {
  const main = document.getElementById("main"), lost = document.getElementById("lost");
  const address = main.dataset.address;
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  // A form is sent once: a second press of its button does nothing.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form.once")) return;
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "yes";
  });
  if (!address) return;
  const channel = new BroadcastChannel("shop");
  let heard = Date.now(), over = false, release = null;

  const say = (text) => {
    if (lost.textContent !== text) lost.textContent = text;
    lost.hidden = text === "";
  };
  const away = () => { if (!over) say(`The connection is lost. What you see is as it was on ${main.dataset.at}.`); };
  const ended = () => {
    over = true;
    release?.();
    say(`Your session has ended: load the page again. What you see is as it was on ${main.dataset.at}.`);
  };

  const same = (old, part) => part.dataset.mark === undefined ? old.innerHTML === part.innerHTML && old.dataset.state === part.dataset.state : old.dataset.mark === part.dataset.mark;
  const show = (fresh) => {
    for (const part of fresh.querySelectorAll("[data-part]")) {
      const old = document.getElementById(part.id);
      if (!old || same(old, part)) continue;
      if (part.dataset.mark) {
        location.reload(); // what has a mark has a script as well
        return;
      }
      const focused = old.contains(document.activeElement) ? document.activeElement : null;
      Object.assign(old.dataset, part.dataset);
      old.replaceChildren(...part.childNodes);
      const again = focused?.id ? `#${CSS.escape(focused.id)}` : focused?.href && `a[href="${CSS.escape(focused.getAttribute("href"))}"]`;
      if (again) old.querySelector(again)?.focus();
    }
    main.dataset.at = fresh.getElementById("main").dataset.at;
    say("");
  };

  let reading = false, stale = false;
  const read = () => {
    stale = reading;
    if (reading || over) return;
    reading = true;
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.timeout = 20000;
    request.onloadend = () => {
      reading = false;
      const fresh = request.response;
      if (request.status === 0 || request.status >= 500) away();
      else if (!fresh?.getElementById("main")?.dataset.address) ended();
      else if (new URL(request.responseURL).pathname === location.pathname) show(fresh);
      else if (!document.querySelector("form[data-sent]")) location.replace(request.responseURL); // the order was paid elsewhere
      if (stale) read(); // it has changed meanwhile
    };
    request.send();
  };

  const beat = (message) => {
    heard = Date.now();
    if (message === "away") away();
    else if (!document.hidden) read();
  };
  const pass = (message) => {
    beat(message);
    channel.postMessage(message);
  };
  channel.onmessage = (event) => beat(event.data);

  const connect = () => {
    let events, timer, done = false;
    const open = () => {
      events = new EventSource("/changes");
      events.onmessage = () => pass("changed");
      events.onerror = () => {
        events.close();
        pass("away");
        read(); // which finds out whether the session has ended
        if (!done) timer = setTimeout(open, 2000);
      };
      events.addEventListener("ended", () => pass("changed"));
    };
    open();
    return () => {
      done = true;
      events.close();
      clearTimeout(timer);
    };
  };
  const hold = () => {
    if (release || over || document.hidden) return;
    const waiting = new AbortController();
    let close = () => {}, free = () => {};
    release = () => {
      release = null;
      waiting.abort();
      close();
      free();
    };
    if (!navigator.locks) { // a page that is not trusted has its own
      close = connect();
      return;
    }
    navigator.locks.request("shop", { signal: waiting.signal }, () => {
      if (waiting.signal.aborted) return undefined;
      close = connect();
      return new Promise((resolve) => { free = resolve; });
    }).catch(() => {}); // it was hidden before its turn
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      release?.();
      return;
    }
    heard = Date.now();
    read();
    hold();
  });
  window.addEventListener("offline", away);
  window.addEventListener("online", read);
  setInterval(() => { if (!document.hidden && Date.now() - heard > 40000) away(); }, 5000);
  window.addEventListener("pagehide", () => release?.());
  hold();
})();
