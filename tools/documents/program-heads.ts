/**
 * The beginning of each example: the function that signs a request with a checksum (v2) or by OAuth
 * (v4) and sends it. Python's standard library has no RSA, so openssl signs for it, as for the
 * shell.
 */

export const shellHead = `sign() { printf '%s' "$1$CONTROL_KEY" | openssl sha1 -r | cut -c1-40; }`;

/** Percent-encodes a text as OAuth does. */
export const shellEncode = `encode() {
  local LC_ALL=C at letter
  for ((at = 0; at < \${#1}; at++)); do
    letter=\${1:at:1}
    case $letter in
      [a-zA-Z0-9._~-]) printf '%s' "$letter" ;;
      *) printf '%%%02X' "'$letter" ;;
    esac
  done
}`;

export const shellOAuthHead = `${shellEncode}

call() {
  local url="$GATEWAY/gw/api/$1" each text signature header fields=()
  local oauth=(
    "oauth_consumer_key=$LOGIN" "oauth_nonce=$(openssl rand -hex 16)"
    "oauth_signature_method=RSA-SHA256" "oauth_timestamp=$(date +%s)" "oauth_version=1.0"
  )
  shift
  text=$(for each in "$@" "\${oauth[@]}"; do
    echo "$(encode "\${each%%=*}")=$(encode "\${each#*=}")"
  done | LC_ALL=C sort -t= -k1,1 -k2 | paste -sd '&' -)
  signature=$(printf '%s' "POST&$(encode "$url")&$(encode "$text")" |
    openssl dgst -sha256 -sign "$KEY_FILE" | openssl base64 -A)
  for each in "\${oauth[@]}" "oauth_signature=$signature"; do
    header="\${header:+$header, }\${each%%=*}=\\"$(encode "\${each#*=}")\\""
  done
  for each in "$@"; do fields+=(--data-urlencode "$each"); done
  curl -s "$url" -H "Authorization: OAuth $header" "\${fields[@]}"
}`;

export const phpHead = `<?php
function call(string $path, array $fields, string ...$signed): array
{
    $control = sha1(implode("", $signed) . getenv("CONTROL_KEY"));
    $request = stream_context_create(["http" => [
        "method" => "POST",
        "header" => "Content-Type: application/x-www-form-urlencoded",
        "content" => http_build_query([...$fields, "control" => $control]),
        "ignore_errors" => true,
    ]]);
    parse_str(file_get_contents(getenv("GATEWAY") . "/gw/api/$path", false, $request), $reply);
    print_r($reply);
    return $reply;
}`;

export const phpOAuthHead = `<?php
function call(string $path, array $fields): array
{
    $url = getenv("GATEWAY") . "/gw/api/$path";
    $oauth = [
        "oauth_consumer_key" => getenv("LOGIN"),
        "oauth_nonce" => bin2hex(random_bytes(16)),
        "oauth_signature_method" => "RSA-SHA256",
        "oauth_timestamp" => (string) time(),
        "oauth_version" => "1.0",
    ];
    $signed = [...$fields, ...$oauth];
    ksort($signed, SORT_STRING);
    $text = http_build_query($signed, "", "&", PHP_QUERY_RFC3986);
    $base = "POST&" . rawurlencode($url) . "&" . rawurlencode($text);
    openssl_sign($base, $signature, file_get_contents(getenv("KEY_FILE")), OPENSSL_ALGO_SHA256);
    $header = [];
    foreach ([...$oauth, "oauth_signature" => base64_encode($signature)] as $name => $value) {
        $header[] = "$name=\\"" . rawurlencode($value) . '"';
    }
    $request = stream_context_create(["http" => [
        "method" => "POST",
        "header" => [
            "Content-Type: application/x-www-form-urlencoded",
            "Authorization: OAuth " . implode(", ", $header),
        ],
        "content" => http_build_query($fields),
        "ignore_errors" => true,
    ]]);
    parse_str(file_get_contents($url, false, $request), $reply);
    print_r($reply);
    return $reply;
}`;

export const pythonHead = `import hashlib, os, secrets
from urllib.parse import parse_qsl, urlencode
from urllib.request import urlopen

def call(path, fields, *signed):
    text = "".join(signed) + os.environ["CONTROL_KEY"]
    control = hashlib.sha1(text.encode()).hexdigest()
    body = urlencode({**fields, "control": control}).encode()
    with urlopen(os.environ["GATEWAY"] + "/gw/api/" + path, body) as answer:
        reply = dict(parse_qsl(answer.read().decode()))
    print(reply)
    return reply`;

export const pythonOAuthHead = `import base64, os, secrets, subprocess, time
from urllib.parse import parse_qsl, quote, urlencode
from urllib.request import Request, urlopen

def encode(text):
    return quote(text, safe="")

def sign(text):
    # The standard library has no RSA.
    command = ["openssl", "dgst", "-sha256", "-sign", os.environ["KEY_FILE"]]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    return base64.b64encode(done.stdout).decode()

def call(path, fields):
    url = os.environ["GATEWAY"] + "/gw/api/" + path
    oauth = {
        "oauth_consumer_key": os.environ["LOGIN"],
        "oauth_nonce": secrets.token_hex(16),
        "oauth_signature_method": "RSA-SHA256",
        "oauth_timestamp": str(int(time.time())),
        "oauth_version": "1.0",
    }
    pairs = sorted((encode(name), encode(value)) for name, value in {**fields, **oauth}.items())
    text = "&".join("=".join(pair) for pair in pairs)
    oauth["oauth_signature"] = sign("&".join(["POST", encode(url), encode(text)]))
    header = ", ".join(f'{name}="{encode(value)}"' for name, value in oauth.items())
    request = Request(url, urlencode(fields).encode(), {"Authorization": "OAuth " + header})
    with urlopen(request) as answer:
        reply = dict(parse_qsl(answer.read().decode()))
    print(reply)
    return reply`;
