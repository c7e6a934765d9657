/**
 * A recipe as a program in each language: a shell with curl, TypeScript with the client, PHP and
 * Python with their standard libraries. The tests run every one of them against a gateway.
 */
import { operations } from "../../gateway/merchant-api/operations/index.ts";
import { signedValues } from "./examples.ts";
import type { Fields, Mint, Recipe, Step } from "./recipes.ts";
import { camel, fence, quote } from "./text.ts";

/** The word of the fence, and what writes the example. */
// biome-ignore format: a table
export const languages = {
  sh:     writeShell,
  ts:     writeTypeScript,
  php:    writePhp,
  python: writePython,
} as const;

/** The same example as fences, one after the other: the site shows them as tabs. */
export function renderRecipe(recipe: Recipe): string {
  return Object.entries(languages)
    .map(([language, write]) => fence(language, write(recipe).trim()))
    .join("\n\n");
}

type Request = {
  readonly does: string;
  readonly name: string;
  /** Behind `/gw/api/`, without the endpoint. */
  readonly path: string;
  readonly endpoint: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly signed: readonly string[];
  readonly keeps: Fields;
  readonly sync: boolean;
};

function requestOf(step: Step): Request {
  const { does, operation: name, endpoint = "ENDPOINT", keeps = {}, sync = false } = step;
  const operation = operations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  const takesLogin = operation.control.includes("login");
  const fields = Object.entries({ ...(takesLogin && { login: "$LOGIN" }), ...step.fields });
  const signed = signedValues(operation.control, new Map(fields), `$${endpoint}`);
  const path = operation.path.replace(/^\//, "").replace("/{id}", "");
  return {
    ...{ does, name, fields, keeps, sync, endpoint },
    signed: signed.filter((value) => value !== ""),
    path: sync ? path.replace(/^v2\//, "v2/sync/") : path,
  };
}

function isMint(step: Step | Mint): step is Mint {
  return "mint" in step;
}

function isVariable(value: string): boolean {
  return value.startsWith("$");
}

/** Variables of the environment that a recipe reads beyond those of every example. */
function environmentOf({ steps }: Recipe): readonly string[] {
  const texts = steps.flatMap((step) =>
    isMint(step) ? ["$BANK"] : [`$${step.endpoint ?? "ENDPOINT"}`, ...Object.values(step.fields)],
  );
  return [...new Set(texts.filter((text) => /^\$[A-Z_]+$/.test(text)))].map((text) =>
    text.slice(1),
  );
}

function writeShell({ ids, steps }: Recipe): string {
  const fresh = Object.entries(ids).map(([name, word]) => `${name}=${word}-$(openssl rand -hex 4)`);
  const parts = steps.map((step) => {
    if (isMint(step)) {
      const asked = `curl -s "$BANK/wallets/${step.mint}" -d '${step.card}'`;
      const what = "# A token, as the wallet on the customer's phone gives it to your page.";
      return `${what}\n${step.keeps}=$(${asked} | base64 | tr -d '\\n')`;
    }
    const { does, path, endpoint, fields, signed, keeps } = requestOf(step);
    const pairs = fields.map(([name, value]) => `  --data-urlencode ${shellPair(name, value)}`);
    const text = signed
      .map((value) => (isVariable(value) ? `\${${value.slice(1)}}` : value))
      .join("");
    const call = [
      `curl -s "$GATEWAY/gw/api/${path}/$${endpoint}"`,
      ...pairs,
      `  --data-urlencode "control=$(sign "${text}")"`,
    ].join(" \\\n");
    const kept = Object.entries(keeps).map(
      ([name, field]) => `${name}=$(echo "$reply" | sed 's/.*&${field}=\\([^&]*\\).*/\\1/')`,
    );
    return [`# ${does}`, `reply=$(${call})`, 'echo "$reply"', ...kept].join("\n");
  });
  const sign = `sign() { printf '%s' "$1$CONTROL_KEY" | openssl sha1 -r | cut -c1-40; }`;
  return [[sign, ...fresh].join("\n"), ...parts].join("\n\n");
}

function shellPair(name: string, value: string): string {
  return isVariable(value) ? `"${name}=${value}"` : `'${name}=${value}'`;
}

function writeTypeScript(recipe: Recipe): string {
  const read = ["GATEWAY", "LOGIN", "CONTROL_KEY", ...environmentOf(recipe)];
  const head = [
    'import { makeClient } from "@tollgate/client";',
    "",
    `const { ${read.map((name) => `${name} = ""`).join(", ")} } = process.env;`,
    "const client = makeClient({ baseUrl: GATEWAY, login: LOGIN, controlKey: CONTROL_KEY });",
    ...Object.entries(recipe.ids).map(
      ([name, word]) => `const ${name} = \`${word}-\${crypto.randomUUID().slice(0, 8)}\`;`,
    ),
  ];
  const parts = recipe.steps.map((step) => {
    if (isMint(step)) {
      return [
        "// A token, as the wallet on the customer's phone gives it to your page.",
        `const card = \`${step.card}\`;`,
        'const post = { method: "POST", body: card };',
        `const minted = await fetch(\`\${BANK}/wallets/${step.mint}\`, post);`,
        `const ${step.keeps} = Buffer.from(await minted.text()).toString("base64");`,
      ].join("\n");
    }
    const { does, name, endpoint, fields, keeps, sync } = requestOf(step);
    const reply = `${camel(name)}Reply`;
    const own = fields.filter(([field]) => field !== "login");
    return [
      `// ${does}`,
      `const ${reply} = await client.endpoint(${endpoint})${sync ? ".sync" : ""}.${camel(name)}({`,
      ...own.map(([field, value]) => `  ${memberOf(field, value)},`),
      "});",
      `console.log(${reply});`,
      ...Object.entries(keeps).map(
        ([kept, field]) => `const ${kept} = ${reply}[${quote(field)}] ?? "";`,
      ),
    ].join("\n");
  });
  return [head.join("\n"), ...parts].join("\n\n");
}

function memberOf(field: string, value: string): string {
  const name = /^\w+$/.test(field) ? field : quote(field);
  if (!isVariable(value)) return `${name}: ${quote(value)}`;
  return value.slice(1) === name ? name : `${name}: ${value.slice(1)}`;
}

const phpHead = `<?php
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
}
`;

function writePhp(recipe: Recipe): string {
  const value = (text: string) => {
    if (!isVariable(text)) return quote(text);
    return isEnvironment(text) ? `getenv("${text.slice(1)}")` : text;
  };
  const fresh = Object.entries(recipe.ids).map(
    ([name, word]) => `$${name} = "${word}-" . bin2hex(random_bytes(4));`,
  );
  const parts = recipe.steps.map((step) => {
    if (isMint(step)) {
      return [
        "// A token, as the wallet on the customer's phone gives it to your page.",
        `$card = '${step.card}';`,
        '$json = "Content-Type: application/json";',
        '$post = ["method" => "POST", "header" => $json, "content" => $card];',
        '$asked = stream_context_create(["http" => $post]);',
        `$minted = file_get_contents(getenv("BANK") . "/wallets/${step.mint}", false, $asked);`,
        `$${step.keeps} = base64_encode($minted);`,
      ].join("\n");
    }
    const { does, path, endpoint, fields, signed, keeps } = requestOf(step);
    return [
      `// ${does}`,
      `$reply = call("${path}/" . getenv("${endpoint}"), [`,
      ...fields.map(([name, text]) => `    "${name}" => ${value(text)},`),
      `], ${signed.map(value).join(", ")});`,
      ...Object.entries(keeps).map(([name, field]) => `$${name} = $reply["${field}"];`),
    ].join("\n");
  });
  return [phpHead + (fresh.length > 0 ? `\n${fresh.join("\n")}` : ""), ...parts].join("\n\n");
}

const pythonHead = `import hashlib, os, secrets
from urllib.parse import parse_qsl, urlencode
from urllib.request import urlopen

def call(path, fields, *signed):
    text = "".join(signed) + os.environ["CONTROL_KEY"]
    control = hashlib.sha1(text.encode()).hexdigest()
    body = urlencode({**fields, "control": control}).encode()
    with urlopen(os.environ["GATEWAY"] + "/gw/api/" + path, body) as answer:
        reply = dict(parse_qsl(answer.read().decode()))
    print(reply)
    return reply
`;

function writePython(recipe: Recipe): string {
  const value = (text: string) => {
    if (!isVariable(text)) return quote(text);
    return isEnvironment(text) ? `os.environ["${text.slice(1)}"]` : text.slice(1);
  };
  const fresh = Object.entries(recipe.ids).map(
    ([name, word]) => `${name} = "${word}-" + secrets.token_hex(4)`,
  );
  const mints = recipe.steps.some(isMint);
  const head = mints ? pythonHead.replace("import hashlib", "import base64, hashlib") : pythonHead;
  const parts = recipe.steps.map((step) => {
    if (isMint(step)) {
      return [
        "# A token, as the wallet on the customer's phone gives it to your page.",
        `card = b'${step.card}'`,
        `with urlopen(os.environ["BANK"] + "/wallets/${step.mint}", card) as minted:`,
        `    ${step.keeps} = base64.b64encode(minted.read()).decode()`,
      ].join("\n");
    }
    const { does, path, endpoint, fields, signed, keeps } = requestOf(step);
    return [
      `# ${does}`,
      `reply = call("${path}/" + os.environ["${endpoint}"], {`,
      ...fields.map(([name, text]) => `    "${name}": ${value(text)},`),
      `}, ${signed.map(value).join(", ")})`,
      ...Object.entries(keeps).map(([name, field]) => `${name} = reply["${field}"]`),
    ].join("\n");
  });
  return [head + (fresh.length > 0 ? `\n${fresh.join("\n")}` : ""), ...parts].join("\n\n");
}

function isEnvironment(text: string): boolean {
  return /^\$[A-Z_]+$/.test(text);
}
