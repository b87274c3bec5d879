'use strict';
// The ledger and the switches are asked for once a second, and shown when they have changed.
const now = document.getElementById('now');
let shown = '';

async function refresh() {
  try {
    const answer = await fetch(now.dataset.source, { cache: 'no-store' });
    const html = await answer.text();
    if (!answer.ok || html === shown) return;
    shown = html;
    const fresh = document.createElement('template');
    fresh.innerHTML = html;
    const verdict = now.querySelector('.verdict');
    const said = fresh.content.querySelector('.verdict');
    const on = said.dataset.on.split(' ');
    for (const button of document.querySelectorAll('button[name="switch"]')) button.ariaPressed = String(on.includes(button.value));
    now.replaceChildren(fresh.content);
    // What has not changed is not said again.
    if (verdict?.textContent === said?.textContent) said.replaceWith(verdict);
  } catch {
    // The machine has ended, or the next one works.
  }
}

setInterval(refresh, 1000);
