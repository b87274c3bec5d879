'use strict';
const state = document.getElementById('state');
const clock = document.getElementById('clock');

const source = new EventSource('/_sandbox/live');
source.onopen = () => { state.textContent = 'This page is live.'; };
source.onerror = () => { state.textContent = 'Not connected. Trying again.'; };
source.onmessage = (event) => {
  const change = JSON.parse(event.data);
  clock.dataset.ahead = change.ahead;
  for (const [list, rows] of Object.entries(change.rows)) update(document.getElementById(list), rows);
};

setInterval(() => {
  const now = new Date(Date.now() + Number(clock.dataset.ahead));
  clock.textContent = now.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}, 250);

// update makes a list have the rows that the server sent. Rows that stay are not
// touched, so that neither focus nor selection is lost.
function update(list, html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  const rows = [...template.content.children];
  const wanted = new Set(rows.map((row) => row.id));
  for (const row of [...list.children]) if (!wanted.has(row.id)) row.remove();
  let next = list.firstElementChild;
  for (const row of rows) {
    if (!next || next.id !== row.id) {
      list.insertBefore(row, next);
      continue;
    }
    const old = next;
    next = next.nextElementSibling;
    if (old.isEqualNode(row)) continue;
    const focused = old.contains(document.activeElement);
    old.replaceWith(row);
    if (focused) row.querySelector('button')?.focus();
  }
  while (next) {
    const rest = next;
    next = next.nextElementSibling;
    rest.remove();
  }
}

// Forms are sent without leaving the page.
document.addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = new URLSearchParams(new FormData(event.target, event.submitter));
  try {
    const answer = await fetch(event.target.action, { method: 'POST', body, redirect: 'manual' });
    state.textContent = answer.type === 'opaqueredirect' ? 'Done.' : await answer.text();
  } catch {
    state.textContent = 'The sandbox did not answer.';
  }
});
