// Payment, refund and verified webhook, with Node alone: quickstream-sandbox, paste its export lines, run this.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { QUICKSTREAM_ENVIRONMENT: api, SANDBOX: sandbox, SANDBOX_TOKEN: sandboxToken = '' } = process.env;
const { QUICKSTREAM_SECRET_KEY: secretKey, QUICKSTREAM_PUBLISHABLE_KEY: publishableKey } = process.env;
const webhookSecret = 'whsec';

// call posts JSON, with the key as the user name of HTTP Basic.
async function call(url, key, body, headers = {}) {
  const basic = 'Basic ' + Buffer.from(key + ':').toString('base64');
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { Authorization: basic, 'Content-Type': 'application/json', ...headers } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

const receiver = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const parts = Object.fromEntries(request.headers['x-webhook-signature'].split(',').map((part) => part.trim().split('=')));
  const expected = createHmac('sha256', webhookSecret).update(parts.t + '.').update(body).digest();
  const given = Buffer.from(parts.v1, 'hex');
  const fresh = Math.abs(Date.now() - Number(parts.t)) < 300_000;
  const valid = fresh && given.length === expected.length && timingSafeEqual(given, expected);
  response.writeHead(valid ? 200 : 400).end();
  console.log('webhook', JSON.parse(body).eventType, valid ? 'verified' : 'refused');
});

// In production the service's script makes the token in the customer's browser: card numbers never reach you.
const { singleUseTokenId } = await call(api + '/single-use-tokens', publishableKey, {
  supplierBusinessCode: 'SANDBOX01', accountType: 'CREDIT_CARD', cardNumber: '4242424242424242',
  cardholderName: 'Kim Lee', expiryDateMonth: '02', expiryDateYear: '2099',
});
const payment = await call(api + '/transactions', secretKey, {
  transactionType: 'PAYMENT', supplierBusinessCode: 'SANDBOX01', principalAmount: 10.5, currency: 'AUD',
  customerReferenceNumber: 'NODE-1', eci: 'INTERNET', ipAddress: '203.0.113.7',
  storedCredentialData: { entryMode: 'MANUAL' }, singleUseTokenId,
}, { 'Idempotency-Key': randomUUID() });
console.log('payment', payment.status, payment.receiptNumber);

await call(sandbox + '/clock', sandboxToken, { advance: '2d' }); // it can be refunded once it is settled
const refund = await call(api + '/transactions', secretKey, {
  transactionType: 'REFUND', principalAmount: 4, currency: 'AUD', originalReceiptNumber: payment.receiptNumber,
});
console.log('refund', refund.status);

await new Promise((listening) => receiver.listen(0, '127.0.0.1', listening));
await call(sandbox + '/subscriptions', sandboxToken, { url: `http://127.0.0.1:${receiver.address().port}/`, secret: webhookSecret });
await call(sandbox + '/trigger/payto.agreement.confirmed', sandboxToken, {}); // answers when it was posted
receiver.close();
