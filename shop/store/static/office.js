// Keeps a page of the back office up to date: the shop sends the page's parts anew when
// something has changed, and those that differ take the place of the old ones. A part
// in which somebody has typed stays until the form was sent.
"use strict";
(() => {
  const live = document.getElementById("live");
  const told = new Map();
  const parts = (root) => [...root.querySelectorAll("[data-part]")];
  parts(live).forEach((part) => told.set(part.id, part.innerHTML));
  live.addEventListener("input", (event) => event.target.closest("[data-part]")?.setAttribute("data-typed", ""));

  const show = (html) => {
    const fresh = document.createElement("template");
    fresh.innerHTML = html; // of the shop's templates
    for (const part of parts(fresh.content)) {
      const old = document.getElementById(part.id);
      if (!old || told.get(part.id) === part.innerHTML || old.hasAttribute("data-typed")) continue;
      told.set(part.id, part.innerHTML);
      const focused = old.contains(document.activeElement) ? document.activeElement : null;
      const again = focused && (focused.id ? `#${CSS.escape(focused.id)}` : focused.href && `a[href="${CSS.escape(focused.getAttribute("href"))}"]`);
      old.replaceChildren(...part.childNodes);
      if (again) old.querySelector(again)?.focus();
    }
  };
  const connect = () => {
    const events = new EventSource(live.dataset.events);
    events.onmessage = (event) => show(JSON.parse(event.data).html);
    events.onerror = () => {
      if (events.readyState !== EventSource.CLOSED) return; // the browser tries again
      setTimeout(connect, 2000); // the shop was away, or the login has ended
    };
    window.addEventListener("pagehide", () => events.close());
  };
  connect();

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.classList.contains("once")) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const text = document.getElementById(button.dataset.copy);
    const status = button.parentElement.querySelector("[role=status]");
    try {
      await navigator.clipboard.writeText(text.textContent);
      status.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(text);
      status.textContent = "Selected: copy it with your keyboard.";
    }
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();
