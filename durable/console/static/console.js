// Keeps a page up to date. One page of a browser, which is shown, holds the stream, and passes on what it says to the
// others; a page that is hidden holds nothing, and reads itself anew when it is shown. What has changed is read as a whole
// page, of which the parts that differ take the place of the old ones. A part with a form that is being filled in stays.
"use strict";
(() => {
  const main = document.getElementById("main"), lost = document.getElementById("lost");
  const own = (name) => new URL(name, document.baseURI);
  const channel = new BroadcastChannel("console " + own("stream").pathname);
  let heard = Date.now(), since = document.querySelector("#at time")?.textContent ?? "", over = false, release = null;

  const say = (text) => {
    if (lost.textContent !== text) lost.textContent = text;
    lost.hidden = text === "";
  };
  const away = () => { if (!over) say(`The connection is lost. What you see is as it was ${since}.`); };
  const ended = () => {
    over = true;
    release?.();
    say(`Your login has ended, or you may not see this any more: load the page again. What you see is as it was ${since}.`);
  };

  const busy = (part) => part.hasAttribute("data-typed") || part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
  const same = (old, part) => part.dataset.mark === undefined ? old.innerHTML === part.innerHTML : old.dataset.mark === part.dataset.mark;
  const keep = (part) => {
    if (part.querySelector(".changed")) return;
    const note = document.createElement("p"), link = document.createElement("a");
    note.className = "notice bad changed";
    note.setAttribute("role", "alert");
    link.href = main.dataset.address;
    link.textContent = "Show it as it is now.";
    note.append("This has changed since you began to fill it in, and would be refused. ", link);
    part.prepend(note);
  };
  const show = (fresh) => {
    for (const part of fresh.querySelectorAll("[data-part]")) {
      const old = document.getElementById(part.id);
      if (!old || same(old, part)) continue;
      if (busy(old)) {
        keep(old);
        continue;
      }
      const focused = old.contains(document.activeElement) ? document.activeElement : null;
      const again = focused && (focused.id ? `#${CSS.escape(focused.id)}` : focused.href && `a[href="${CSS.escape(focused.getAttribute("href"))}"]`);
      if (part.dataset.mark !== undefined) old.dataset.mark = part.dataset.mark;
      old.replaceChildren(...part.childNodes);
      if (again) old.querySelector(again)?.focus();
    }
    since = document.querySelector("#at time").textContent;
    say("");
  };

  let reading = false;
  const read = () => {
    if (!main.dataset.address || reading || over) return;
    reading = true;
    const request = new XMLHttpRequest();
    request.open("GET", own(main.dataset.address));
    request.responseType = "document";
    request.timeout = 20000;
    request.onloadend = () => {
      reading = false;
      const fresh = request.response;
      if (request.status === 0 || request.status >= 500) away();
      else if (fresh?.getElementById("at")) show(fresh);
      else ended();
    };
    request.send();
  };

  const beat = (message) => {
    heard = Date.now();
    if (message === "ended") ended();
    else if (message === "away") away();
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
      events = new EventSource(own("stream"));
      events.onmessage = () => pass("changed");
      events.addEventListener("ended", () => pass("ended"));
      events.onerror = () => {
        events.close();
        pass("away");
        read(); // which finds out whether the login has ended
        if (!done) timer = setTimeout(open, 3000);
      };
    };
    open();
    return () => {
      done = true;
      events.close();
      clearTimeout(timer);
    };
  };
  const hold = () => {
    if (release || over || document.hidden || !main.dataset.address) return;
    const waiting = new AbortController();
    let close = () => {}, free = () => {};
    release = () => {
      release = null;
      waiting.abort();
      close();
      free();
    };
    if (!navigator.locks) {
      close = connect();
      return;
    }
    navigator.locks.request(channel.name, { signal: waiting.signal }, () => {
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
  setInterval(() => { if (!document.hidden && main.dataset.address && Date.now() - heard > 40000) away(); }, 5000);
  window.addEventListener("pagehide", () => release?.());
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  main.addEventListener("input", (event) => event.target.closest("[data-part]")?.setAttribute("data-typed", ""));
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.classList.contains("once")) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.copy), status = button.parentElement.querySelector("[role=status]");
      try {
        await navigator.clipboard.writeText(text.textContent);
        status.textContent = "Copied.";
      } catch {
        getSelection().selectAllChildren(text);
        status.textContent = "Selected: copy it with your keyboard.";
      }
    });
  }
  hold();
})();
