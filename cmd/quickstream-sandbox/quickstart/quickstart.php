<?php
// Payment, refund and verified webhook, with PHP alone: quickstream-sandbox, paste its export lines, run this.
$api = getenv('QUICKSTREAM_ENVIRONMENT');
$sandbox = getenv('SANDBOX');
$sandboxToken = getenv('SANDBOX_TOKEN') ?: '';
$webhookSecret = 'whsec';

// call posts JSON, with the key as the user name of HTTP Basic.
function call(string $url, string $key, array $body, array $headers = []): ?array
{
    $headers[] = 'Authorization: Basic ' . base64_encode($key . ':');
    $headers[] = 'Content-Type: application/json';
    $options = ['method' => 'POST', 'header' => $headers, 'content' => json_encode((object) $body), 'ignore_errors' => true, 'timeout' => 30];
    $answer = file_get_contents($url, false, stream_context_create(['http' => $options]));
    if ($answer === false || !preg_match('/ 20\d /', $http_response_header[0] . ' ')) {
        throw new RuntimeException("$url: $answer");
    }
    return json_decode($answer, true);
}

// In production the service's script makes the token in the customer's browser: card numbers never reach you.
$token = call("$api/single-use-tokens", getenv('QUICKSTREAM_PUBLISHABLE_KEY'), [
    'supplierBusinessCode' => 'SANDBOX01', 'accountType' => 'CREDIT_CARD', 'cardNumber' => '4242424242424242',
    'cardholderName' => 'Kim Lee', 'expiryDateMonth' => '02', 'expiryDateYear' => '2099',
])['singleUseTokenId'];
$payment = call("$api/transactions", getenv('QUICKSTREAM_SECRET_KEY'), [
    'transactionType' => 'PAYMENT', 'supplierBusinessCode' => 'SANDBOX01', 'principalAmount' => 10.5, 'currency' => 'AUD',
    'customerReferenceNumber' => 'PHP-1', 'eci' => 'INTERNET', 'ipAddress' => '203.0.113.7',
    'storedCredentialData' => ['entryMode' => 'MANUAL'], 'singleUseTokenId' => $token,
], ['Idempotency-Key: ' . bin2hex(random_bytes(16))]);
echo "payment {$payment['status']} {$payment['receiptNumber']}\n";

call("$sandbox/clock", $sandboxToken, ['advance' => '2d']); // it can be refunded once it is settled
$refund = call("$api/transactions", getenv('QUICKSTREAM_SECRET_KEY'), [
    'transactionType' => 'REFUND', 'principalAmount' => 4, 'currency' => 'AUD', 'originalReceiptNumber' => $payment['receiptNumber'],
]);
echo "refund {$refund['status']}\n";

// A receiver for one request. In production a web server calls your script.
$receiver = stream_socket_server('tcp://127.0.0.1:0');
call("$sandbox/subscriptions", $sandboxToken, ['url' => 'http://' . stream_socket_get_name($receiver, false) . '/', 'secret' => $webhookSecret]);
call("$sandbox/trigger/payto.agreement.confirmed", $sandboxToken, []); // waits a second for a receiver that is not listening yet
$request = stream_socket_accept($receiver, 10);
$header = stream_get_line($request, 65536, "\r\n\r\n");
preg_match('/^Content-Length: (\d+)/mi', $header, $length);
$body = stream_get_contents($request, (int) $length[1]);
preg_match('/^X-Webhook-Signature: t=(\d+), ?v1=([0-9a-f]+)/mi', $header, $signature);
$fresh = abs(microtime(true) * 1000 - (int) $signature[1]) < 300_000;
$valid = $fresh && hash_equals(hash_hmac('sha256', "$signature[1].$body", $webhookSecret), $signature[2]);
fwrite($request, 'HTTP/1.1 ' . ($valid ? '200 OK' : '400 Bad Request') . "\r\nContent-Length: 0\r\n\r\n");
fclose($request);
echo 'webhook ', json_decode($body, true)['eventType'], $valid ? " verified\n" : " refused\n";
