# Payment, refund and verified webhook, with Python 3 alone: quickstream-sandbox, paste its export lines, run this.
import base64, hashlib, hmac, http.server, json, os, threading, time, urllib.request

API, SANDBOX = os.environ["QUICKSTREAM_ENVIRONMENT"], os.environ["SANDBOX"]
SECRET_KEY, PUBLISHABLE_KEY = os.environ["QUICKSTREAM_SECRET_KEY"], os.environ["QUICKSTREAM_PUBLISHABLE_KEY"]
SANDBOX_TOKEN, WEBHOOK_SECRET = os.environ.get("SANDBOX_TOKEN", ""), "whsec"


def call(url, key, body=None, headers={}):
    """POST JSON (or GET), with the key as the user name of HTTP Basic."""
    basic = "Basic " + base64.b64encode((key + ":").encode()).decode()
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Authorization": basic, "Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        parts = dict(part.strip().split("=", 1) for part in self.headers["X-Webhook-Signature"].split(","))
        expected = hmac.new(WEBHOOK_SECRET.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
        fresh = abs(time.time() * 1000 - int(parts["t"])) < 300_000
        valid = fresh and hmac.compare_digest(expected, parts["v1"])
        self.send_response(200 if valid else 400)
        self.end_headers()
        print("webhook", json.loads(body)["eventType"], "verified" if valid else "refused", flush=True)

    def log_message(self, *args):
        pass


# In production the service's script makes the token in the customer's browser: card numbers never reach you.
token = call(API + "/single-use-tokens", PUBLISHABLE_KEY, {
    "supplierBusinessCode": "SANDBOX01", "accountType": "CREDIT_CARD", "cardNumber": "4242424242424242",
    "cardholderName": "Kim Lee", "expiryDateMonth": "02", "expiryDateYear": "2099"})["singleUseTokenId"]
payment = call(API + "/transactions", SECRET_KEY, {
    "transactionType": "PAYMENT", "supplierBusinessCode": "SANDBOX01", "principalAmount": 10.50, "currency": "AUD",
    "customerReferenceNumber": "PYTHON-1", "eci": "INTERNET", "ipAddress": "203.0.113.7",
    "storedCredentialData": {"entryMode": "MANUAL"}, "singleUseTokenId": token}, {"Idempotency-Key": os.urandom(16).hex()})
print("payment", payment["status"], payment["receiptNumber"])

call(SANDBOX + "/clock", SANDBOX_TOKEN, {"advance": "2d"})  # it can be refunded once it is settled
refund = call(API + "/transactions", SECRET_KEY, {
    "transactionType": "REFUND", "principalAmount": 4.00, "currency": "AUD", "originalReceiptNumber": payment["receiptNumber"]})
print("refund", refund["status"])

server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
call(SANDBOX + "/subscriptions", SANDBOX_TOKEN, {"url": f"http://127.0.0.1:{server.server_port}/", "secret": WEBHOOK_SECRET})
call(SANDBOX + "/trigger/payto.agreement.confirmed", SANDBOX_TOKEN, {})  # answers when it was posted
server.shutdown()
