// Keeps a page up to date: while it is shown it reads itself anew every few seconds, and the parts that differ take the
// place of the old ones. A part with a form that is being filled in stays.
"use strict";
(() => {
  const main = document.getElementById("main"), lost = document.getElementById("lost");
  let since = document.querySelector("#at time")?.textContent ?? "", over = false, reading = false;

  const say = (text) => {
    if (lost.textContent !== text) lost.textContent = text;
    lost.hidden = text === "";
  };
  const busy = (part) => part.hasAttribute("data-typed") || part.contains(document.activeElement) && document.activeElement.matches("input");
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
      for (const open of old.querySelectorAll("details[open]")) {
        part.querySelectorAll("details")[[...old.querySelectorAll("details")].indexOf(open)]?.setAttribute("open", "");
      }
      if (part.dataset.mark !== undefined) old.dataset.mark = part.dataset.mark;
      old.replaceChildren(...part.childNodes);
      if (again) old.querySelector(again)?.focus();
    }
    since = document.querySelector("#at time").textContent;
    say("");
  };
  const read = () => {
    if (!main.dataset.address || reading || over || document.hidden) return;
    reading = true;
    const request = new XMLHttpRequest();
    request.open("GET", main.dataset.address);
    request.responseType = "document";
    request.timeout = 20000;
    request.onloadend = () => {
      reading = false;
      if (request.status === 0 || request.status >= 500) {
        say(`The connection is lost. What you see is as it was ${since}.`);
      } else if (request.response?.getElementById("at")) {
        show(request.response);
      } else {
        over = true;
        say(`Your login has ended, or you may not see this any more: load the page again. What you see is as it was ${since}.`);
      }
    };
    request.send();
  };
  setInterval(read, 3000);
  document.addEventListener("visibilitychange", read);
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
})();
