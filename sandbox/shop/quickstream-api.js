'use strict';
// A stand-in of the service's browser script, served by the sandbox.
//
// UNCONFIRMED: the names are those that public pages call. Nobody outside of the
// service has confirmed them, nor what they do; ask the service for its documentation.
// The real service answers no calls that a page makes by itself. The calls below work
// against the sandbox alone: never copy them into a page, and take the script from
// the service.
//
// QuickstreamAPI.init({ publishableApiKey })
// QuickstreamAPI.creditCards.getToken(form, supplierBusinessCode, callback, options)
//   form      an element with inputs marked data-quickstream-api="cardNumber",
//             cardholderName, expiryDateMonth, expiryDateYear and cvn
//   callback  (errors, data): errors as [{ fieldName, messages }], or
//             data.singleUseToken as the service answers it
//   options   { threeDS2: true } asks for 3D Secure; the sandbox's own
// QuickstreamAPI.creditCards.createChallengeFrame(options, callback)
//   options   { singleUseTokenId, onSuccess, onFailure }
//   callback  (errors, frame): frame.destroy() takes it away
//   The frame is put into the element marked data-quickstream-api="challengeContainer",
//   which is the sandbox's own.
(() => {
  const script = new URL(document.currentScript.src);
  const base = script.href.slice(0, script.href.lastIndexOf('/'));
  let key = '';

  const wrong = (message, fieldName = '') => [{ fieldName, messages: [message] }];

  // The offset is that of JavaScript: the minutes by which UTC is ahead.
  const browserProfile = () => ({
    browserJavaEnabled: false,
    browserLanguage: navigator.language.slice(0, 8),
    browserScreenHeight: String(screen.height),
    browserScreenWidth: String(screen.width),
    browserColorDepth: ['1', '4', '8', '15', '16', '24', '32', '48'].includes(String(screen.colorDepth)) ? String(screen.colorDepth) : '24',
    browserTZ: String(new Date().getTimezoneOffset()),
  });

  async function createToken(details) {
    const answer = await fetch(`${base}/single-use-tokens`, {
      method: 'POST',
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
      headers: { Authorization: `Basic ${btoa(`${key}:`)}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(details),
    });
    const body = await answer.json();
    if (answer.ok) return { singleUseToken: body };
    return { errors: body.errors?.length ? body.errors : wrong(body.customerMessage || 'The card could not be checked.') };
  }

  function getToken(form, supplierBusinessCode, callback, { threeDS2 = false } = {}) {
    const details = { supplierBusinessCode, accountType: 'CREDIT_CARD' };
    for (const input of form.querySelectorAll('[data-quickstream-api]')) {
      const value = input.value.trim();
      if (value) details[input.dataset.quickstreamApi] = value;
    }
    if (details.cardNumber) details.cardNumber = details.cardNumber.replace(/[ -]/g, '');
    if (details.expiryDateMonth?.length === 1) details.expiryDateMonth = `0${details.expiryDateMonth}`;
    if (details.expiryDateYear?.length === 2) details.expiryDateYear = `20${details.expiryDateYear}`;
    if (threeDS2) Object.assign(details, { threeDS2, browserProfile: browserProfile() });
    createToken(details).then(
      ({ errors, singleUseToken }) => callback(errors, errors ? undefined : { form, singleUseToken }),
      () => callback(wrong('The card could not be checked. Nothing was paid; you can try again.')),
    );
  }

  function createChallengeFrame(options, callback) {
    const container = document.querySelector('[data-quickstream-api="challengeContainer"]');
    if (!container) {
      callback(wrong('There is no element for the challenge.'));
      return;
    }
    const frame = document.createElement('iframe');
    frame.title = 'Your bank: confirm it is you';
    frame.referrerPolicy = 'origin'; // the sandbox looks who frames it
    frame.src = `${script.origin}/_shop/challenge?${new URLSearchParams({ singleUseTokenId: options.singleUseTokenId, shop: location.origin })}`;

    const listen = (event) => {
      if (event.source !== frame.contentWindow || event.origin !== script.origin) return;
      if (event.data?.sandboxChallenge !== options.singleUseTokenId) return;
      window.removeEventListener('message', listen);
      (event.data.passed ? options.onSuccess : options.onFailure)?.();
    };
    window.addEventListener('message', listen);
    container.replaceChildren(frame);
    callback(undefined, {
      destroy() {
        window.removeEventListener('message', listen);
        frame.remove();
      },
    });
  }

  window.QuickstreamAPI = {
    init: ({ publishableApiKey }) => { key = publishableApiKey; },
    isInitialised: () => key !== '',
    creditCards: { getToken, createChallengeFrame },
  };
})();
