'use strict';
const state = document.getElementById('state');
const clock = document.getElementById('clock');

const source = new EventSource('/_sandbox/live' + location.search);
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

// Forms that do something are sent without leaving the page. What is wrong stands beside the
// field.
document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (form.method !== 'post') return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const field = form.querySelector('[aria-describedby]');
  const beside = form.querySelector('.wrong') ?? state;
  let wrong = '';
  try {
    const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual', headers: { Accept: 'text/plain' } });
    if (answer.type !== 'opaqueredirect') wrong = await answer.text();
    state.textContent = 'Done.';
    if (wrong) state.textContent = '';
    if (wrong || beside !== state) beside.textContent = wrong;
  } catch {
    state.textContent = 'The sandbox did not answer.';
  }
  field?.setAttribute('aria-invalid', String(wrong !== ''));
});
