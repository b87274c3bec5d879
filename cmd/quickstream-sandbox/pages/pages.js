'use strict';
const state = document.getElementById('state');
const clock = document.getElementById('clock');
const lost = 'The sandbox does not answer. Trying again.';

if (clock) {
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const page = await load(location.href);
      clock.textContent = page.getElementById('clock').textContent;
      for (const list of ['rows', 'ledger']) update(document.getElementById(list), page.getElementById(list));
      if (['', lost].includes(state.textContent)) state.textContent = 'Live';
    } catch {
      state.textContent = lost;
    }
  }, 1000);
}

// load is a page as it is now.
async function load(address) {
  return new DOMParser().parseFromString(await (await fetch(address)).text(), 'text/html');
}

// update makes a list have the rows of the page as it is now. Rows that stay are not touched, so that
// neither focus nor selection is lost, and what is open stays open.
function update(list, now) {
  const rows = [...now.children];
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
    const shown = (item) => (item.querySelector('summary') ?? item).innerHTML;
    if (shown(old) === shown(row)) continue;
    const open = old.querySelector('details')?.open;
    const focused = old.contains(document.activeElement);
    old.replaceWith(row);
    if (open) row.querySelector('details').open = true;
    if (focused) row.querySelector('summary')?.focus();
  }
}

// A row that is opened shows the request beside its answer.
document.addEventListener('toggle', async (event) => {
  const details = event.target;
  if (!details.open || !details.dataset.detail) return;
  const place = details.querySelector('.detail');
  try {
    const page = await load(details.dataset.detail);
    place.replaceChildren(...page.getElementById('detail').childNodes);
  } catch {
    state.textContent = 'The sandbox did not answer.';
  }
}, true);

document.addEventListener('click', async (event) => {
  const from = event.target.dataset?.copy;
  if (!from) return;
  try {
    await navigator.clipboard.writeText(document.getElementById(from).textContent);
    state.textContent = 'Copied.';
  } catch {
    state.textContent = 'The browser did not allow the copy.';
  }
});

// Forms that do something are sent without leaving the page, which then shows what came of it.
document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (form.method !== 'post') return;
  event.preventDefault();
  state.textContent = state.className = '';
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const name = event.submitter?.name, value = event.submitter?.value;
  try {
    const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' });
    if (answer.type !== 'opaqueredirect') {
      state.textContent = await answer.text();
      state.className = 'wrong';
      return;
    }
    if (clock) {
      state.textContent = 'Done.';
      return;
    }
    const page = await load(location.href);
    document.querySelector('main').replaceWith(page.querySelector('main'));
    [...document.querySelectorAll('button')].find((b) => b.name === name && b.value === value)?.focus();
    state.textContent = 'Done.';
  } catch {
    state.textContent = 'The sandbox did not answer.';
  }
});
