# The secret key is the user name of HTTP Basic, without a password.
post() { curl -s -u "$QUICKSTREAM_SECRET_KEY:" -H 'Content-Type: application/json' "$@"; }
# A card becomes a single-use token. The key that browsers have is enough for that.
tokenise() { curl -s -u "$QUICKSTREAM_PUBLISHABLE_KEY:" -H 'Content-Type: application/json' $QUICKSTREAM_ENVIRONMENT/single-use-tokens "$@"; }
# The last member of a name in an answer of one line.
field() { sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }

# Events, which only PayTo has, go to a program of yours, which answers 200, or 401 to what it cannot verify. Where none listens a delivery is tried again, for some hours.
curl -s -d '{"url":"http://127.0.0.1:4242/","secret":"whsec"}' $SANDBOX/subscriptions

# A payment with a token, made once however often it is sent with this key within 24 hours of the sandbox's clock.
TOKEN=$(tokenise -d '{
  "supplierBusinessCode":"SANDBOX01", "accountType":"CREDIT_CARD", "cardNumber":"4242424242424242",
  "cardholderName":"Kim Lee", "expiryDateMonth":"02", "expiryDateYear":"2099"
}' | field singleUseTokenId)
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

# It is found by its reference, and voided: it is not settled yet.
LOST=$(post "$QUICKSTREAM_ENVIRONMENT/transactions/for-reference-number?referenceNumber=ORDER-2" | field receiptNumber)
post -X POST $QUICKSTREAM_ENVIRONMENT/transactions/$LOST/void

# A stored card belongs to a customer, and pays again without its number.
CUSTOMER=$(post -d '{"customerNumber":"C-1", "customerName":"Kim Lee"}' $QUICKSTREAM_ENVIRONMENT/customers | field customerId)
TOKEN=$(tokenise -d '{
  "supplierBusinessCode":"SANDBOX01", "accountType":"CREDIT_CARD", "cardNumber":"5163200000000008",
  "cardholderName":"Kim Lee", "expiryDateMonth":"02", "expiryDateYear":"2099"
}' | field singleUseTokenId)
CARD=$(post -d '{"singleUseTokenId":"'$TOKEN'"}' $QUICKSTREAM_ENVIRONMENT/customers/$CUSTOMER/accounts | field accountToken)
post -d '{
  "transactionType":"PAYMENT", "supplierBusinessCode":"SANDBOX01", "principalAmount":5.00, "currency":"AUD",
  "customerReferenceNumber":"ORDER-3", "eci":"RECURRING",
  "storedCredentialData":{"entryMode":"STORED_CREDENTIAL", "usage":"RECURRING"}, "accountToken":"'$CARD'"
}' $QUICKSTREAM_ENVIRONMENT/transactions

# 3D Secure: the token asks for it, with the profile of the browser. This card needs the payer (C), who confirms here, or
# on the page $SANDBOX/simulate. Then the token is authenticated (Y), and pays.
TOKEN=$(tokenise -d '{
  "supplierBusinessCode":"SANDBOX01", "accountType":"CREDIT_CARD", "cardNumber":"4111111111111111",
  "cardholderName":"Kim Lee", "expiryDateMonth":"02", "expiryDateYear":"2099", "threeDS2":true,
  "browserProfile":{"browserJavaEnabled":false, "browserLanguage":"en-AU", "browserScreenHeight":"900",
    "browserScreenWidth":"1440", "browserColorDepth":"24", "browserTZ":"-600"}
}' | field singleUseTokenId)
authenticate() { curl -s -u "$QUICKSTREAM_SECRET_KEY:" -H 'Content-Type: application/json' -d '{
  "messageCategory":"01", "threeDSRequestorAuthenticationInd":"01", "principalAmount":"15.00", "currency":"AUD",
  "billAddrLine1":"1 High St"
}' "$@"; }
authenticate $QUICKSTREAM_ENVIRONMENT/single-use-tokens/$TOKEN/three-ds2-authentication
curl -s -X POST $SANDBOX/challenges/$TOKEN/Y
authenticate $QUICKSTREAM_ENVIRONMENT/single-use-tokens/$TOKEN/three-ds2-authentication
post -d '{
  "transactionType":"PAYMENT", "supplierBusinessCode":"SANDBOX01", "principalAmount":15.00, "currency":"AUD",
  "customerReferenceNumber":"ORDER-4", "eci":"INTERNET", "ipAddress":"203.0.113.7", "threeDS2":true,
  "storedCredentialData":{"entryMode":"MANUAL"}, "singleUseTokenId":"'$TOKEN'"
}' $QUICKSTREAM_ENVIRONMENT/transactions

# A PayTo agreement waits for the payer, who confirms it: the first event.
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
  "customerReferenceNumber":"ORDER-5", "payToData":{"agreementToken":"'$AGREEMENT'"}
}' $QUICKSTREAM_ENVIRONMENT/transactions
curl -s -d '{"advance":"2d"}' $SANDBOX/clock

# The card payment is settled by now, because 18:00 in Sydney has passed: it is refunded, and could not be voided any more.
post -d '{
  "transactionType":"REFUND", "principalAmount":4.00, "currency":"AUD", "originalReceiptNumber":"'$RECEIPT'"
}' $QUICKSTREAM_ENVIRONMENT/transactions

# A third event, with a new agreement. And all that was posted.
curl -s -X POST $SANDBOX/trigger/payto.agreement.declined
curl -s $SANDBOX/deliveries

# How a receiver verifies one: t in the header is the time in milliseconds, which should be within minutes of its own,
# and v1 the HMAC-SHA256 of t, a dot and the body as it arrived. That is assumed: the contract does not say how the service signs.
DELIVERY=$(curl -s $SANDBOX/deliveries | field id | tail -1)
HEADER=$(curl -s $SANDBOX/deliveries | field signature | tail -1)
TIME=$(echo "$HEADER" | sed 's/t=\([0-9]*\),.*/\1/')
{ printf '%s.' "$TIME"; curl -s $SANDBOX/deliveries/$DELIVERY/body; } | openssl dgst -sha256 -hmac whsec
echo "$HEADER"
