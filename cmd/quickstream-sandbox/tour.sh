# The secret key is the user name of HTTP Basic, without a password.
post() { curl -s -u "$QUICKSTREAM_SECRET_KEY:" -H 'Content-Type: application/json' "$@"; }
# The last member of a name in an answer of one line.
field() { sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }

# Events go to a program of yours, which answers 200. Where none listens a delivery is tried again, for some hours.
curl -s -d '{"url":"http://127.0.0.1:4242/","secret":"whsec"}' $SANDBOX/subscriptions

# A card becomes a single-use token. The key that browsers have is enough for that.
TOKEN=$(curl -s -u "$QUICKSTREAM_PUBLISHABLE_KEY:" -H 'Content-Type: application/json' -d '{
  "supplierBusinessCode":"SANDBOX01", "accountType":"CREDIT_CARD", "cardNumber":"4242424242424242",
  "cardholderName":"Kim Lee", "expiryDateMonth":"02", "expiryDateYear":"2099"
}' $QUICKSTREAM_ENVIRONMENT/single-use-tokens | field singleUseTokenId)

# A payment with it, made once however often it is sent with this key.
RECEIPT=$(post -H 'Idempotency-Key: tour-1' -d '{
  "transactionType":"PAYMENT", "supplierBusinessCode":"SANDBOX01", "principalAmount":10.50, "currency":"AUD",
  "customerReferenceNumber":"ORDER-1", "eci":"INTERNET", "ipAddress":"203.0.113.7",
  "storedCredentialData":{"entryMode":"MANUAL"}, "singleUseTokenId":"'$TOKEN'"
}' $QUICKSTREAM_ENVIRONMENT/transactions | field receiptNumber)
curl -s "$SANDBOX/ledger?order=ORDER-1"

# A payment whose answer is lost has been made all the same.
curl -s -d '{"operation":"POST /transactions","nth":1,"kind":"ResetAfterCommit"}' $SANDBOX/faults
post -d '{
  "transactionType":"PAYMENT", "supplierBusinessCode":"SANDBOX01", "principalAmount":20.00, "currency":"AUD",
  "customerReferenceNumber":"ORDER-2", "eci":"MAIL", "storedCredentialData":{"entryMode":"MANUAL"},
  "creditCard":{"cardNumber":"4242424242424242", "expiryDateMonth":"02", "expiryDateYear":"2099"}
}' $QUICKSTREAM_ENVIRONMENT/transactions || echo 'no answer'
curl -s "$SANDBOX/ledger?order=ORDER-2"

# A PayTo agreement waits for the payer, who confirms it: the first event.
CUSTOMER=$(post -d '{"customerNumber":"C-1", "customerName":"Kim Lee"}' $QUICKSTREAM_ENVIRONMENT/customers | field customerId)
AGREEMENT=$(post -d '{
  "supplierBusinessCode":"SANDBOX01", "payeeReference":"REF-1",
  "paymentDetails":{"purpose":"UTIL", "description":"Electricity", "automaticRenewal":true},
  "paymentTerms":{"frequency":"MNTH", "agreementType":"VARI", "currency":"AUD", "paymentAmount":"5.00"},
  "payerDetails":{"payerType":"PERS", "payerId":"C-1", "payerName":"Kim Lee", "bsb":"650000", "accountNumber":"111111"}
}' $QUICKSTREAM_ENVIRONMENT/customers/$CUSTOMER/payto-agreements | field agreementToken)
curl -s -X POST $SANDBOX/agreements/$AGREEMENT/confirm

# A PayTo payment is pending first, whatever its summary code says, and approved after a while. The clock moves on: the second event.
post -d '{
  "transactionType":"PAYMENT", "supplierBusinessCode":"SANDBOX01", "principalAmount":10.50, "currency":"AUD",
  "customerReferenceNumber":"ORDER-3", "payToData":{"agreementToken":"'$AGREEMENT'"}
}' $QUICKSTREAM_ENVIRONMENT/transactions
curl -s -d '{"advance":"48h"}' $SANDBOX/clock

# A third event, with a new agreement. And all that was posted.
curl -s -X POST $SANDBOX/trigger/payto.agreement.declined
curl -s $SANDBOX/deliveries
