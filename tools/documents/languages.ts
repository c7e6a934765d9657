/**
 * Writes a recipe as a program in each language: a shell with curl, TypeScript with the client, PHP
 * and Python with their standard libraries. The tests run every program against a gateway.
 */
import { pathIn } from "../../gateway/merchant-api/operation.ts";
import { operations } from "../../gateway/merchant-api/operations/index.ts";
import { signedValues } from "./examples.ts";
import {
  phpHead,
  phpOAuthHead,
  pythonHead,
  pythonOAuthHead,
  shellHead,
  shellOAuthHead,
} from "./program-heads.ts";
import { type Fields, type Mint, type Recipe, recipes, type Step } from "./recipes.ts";
import { camel, fence, quote } from "./text.ts";

/** The languages by the name of their code block, with the function that writes the program. */
export const languages = {
  sh: writeShell,
  ts: writeTypeScript,
  php: writePhp,
  python: writePython,
} as const;

/** Renders the same example as one code block per language, which the site shows as tabs. */
export function renderRecipe(name: string): string {
  const recipe = recipes[name];
  if (recipe === undefined) throw new Error(`There is no recipe of ${name}.`);
  return Object.entries(languages)
    .map(([language, write]) => fence(language, write(recipe).trim()))
    .join("\n\n");
}

type Request = {
  readonly does: string;
  readonly name: string;
  /** The path after `/gw/api/`, without the endpoint. */
  readonly path: string;
  readonly endpoint: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly signed: readonly string[];
  readonly keeps: Fields;
  readonly sync: boolean;
};

function requestOf(step: Step, { oauth = false }: Recipe): Request {
  const { does, operation: name, endpoint = "ENDPOINT", keeps = {}, sync = false } = step;
  const operation = operations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  const takesLogin = operation.control.includes("login") && !oauth;
  const fields = Object.entries({ ...(takesLogin && { login: "$LOGIN" }), ...step.fields });
  const signed = oauth ? [] : signedValues(operation.control, new Map(fields), `$${endpoint}`);
  const version = oauth ? "v4" : "v2";
  const path = pathIn(version, operation).replace(/^\//, "").replace("/{id}", "");
  return {
    does,
    name,
    fields,
    keeps,
    sync,
    endpoint,
    signed: signed.filter((value) => value !== ""),
    path: sync ? path.replace(/^v\d/, "$&/sync") : path,
  };
}

function isMint(step: Step | Mint): step is Mint {
  return "mint" in step;
}

function isVariable(value: string): boolean {
  return value.startsWith("$");
}

/** Whether variables stand within the text. */
function isTemplate(value: string): boolean {
  return value.includes("${");
}

/** Returns the environment variables that a recipe reads in addition to those of every example. */
function environmentOf({ steps }: Recipe): readonly string[] {
  const texts = steps.flatMap((step) =>
    isMint(step) ? ["$BANK"] : [`$${step.endpoint ?? "ENDPOINT"}`, ...Object.values(step.fields)],
  );
  return [...new Set(texts.filter((text) => /^\$[A-Z_]+$/.test(text)))].map((text) =>
    text.slice(1),
  );
}

function writeShell(recipe: Recipe): string {
  const { ids, steps, oauth = false } = recipe;
  const fresh = Object.entries(ids).map(([name, word]) => `${name}=${word}-$(openssl rand -hex 4)`);
  const parts = steps.map((step) => {
    if (isMint(step)) {
      const asked = `curl -s "$BANK/wallets/${step.mint}" -d '${step.card}'`;
      const what = "# A token, as the wallet on the customer's phone gives it to your page.";
      return `${what}\n${step.keeps}=$(${asked} | base64 | tr -d '\\n')`;
    }
    const { does, path, endpoint, fields, signed, keeps } = requestOf(step, recipe);
    const pairs = fields.map(([name, value]) => shellPair(name, value));
    const text = signed
      .map((value) => (isVariable(value) ? `\${${value.slice(1)}}` : value))
      .join("");
    const call = oauth
      ? [`call "${path}/$${endpoint}"`, ...pairs]
      : [
          `curl -s "$GATEWAY/gw/api/${path}/$${endpoint}"`,
          ...pairs.map((pair) => `--data-urlencode ${pair}`),
          `--data-urlencode "control=$(sign "${text}")"`,
        ];
    const kept = Object.entries(keeps).map(
      ([name, field]) => `${name}=$(echo "$reply" | sed 's/.*&${field}=\\([^&]*\\).*/\\1/')`,
    );
    const lines = call.join(" \\\n  ");
    return [`# ${does}`, `reply=$(${lines})`, 'echo "$reply"', ...kept].join("\n");
  });
  const head = oauth ? [shellOAuthHead, "", ...fresh] : [shellHead, ...fresh];
  return [head.join("\n"), ...parts].join("\n\n");
}

function shellPair(name: string, value: string): string {
  return isVariable(value) || isTemplate(value) ? `"${name}=${value}"` : `'${name}=${value}'`;
}

function writeTypeScript(recipe: Recipe): string {
  const { oauth = false } = recipe;
  const secret = oauth ? "KEY_FILE" : "CONTROL_KEY";
  const read = ["GATEWAY", "LOGIN", secret, ...environmentOf(recipe)];
  const head = [
    ...(oauth ? ['import { readFileSync } from "node:fs";'] : []),
    'import { makeClient } from "@tollgate/client";',
    "",
    `const { ${read.map((name) => `${name} = ""`).join(", ")} } = process.env;`,
    ...(oauth
      ? [
          'const oauth = { consumerKey: LOGIN, privateKey: readFileSync(KEY_FILE, "utf8") };',
          "const client = makeClient({ baseUrl: GATEWAY, oauth });",
        ]
      : [
          "const client = makeClient({ baseUrl: GATEWAY, login: LOGIN, controlKey: CONTROL_KEY });",
        ]),
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
    const { does, name, endpoint, fields, keeps, sync } = requestOf(step, recipe);
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
  if (isTemplate(value)) return `${name}: \`${quote(value).slice(1, -1)}\``;
  if (!isVariable(value)) return `${name}: ${quote(value)}`;
  return value.slice(1) === name ? name : `${name}: ${value.slice(1)}`;
}

function writePhp(recipe: Recipe): string {
  const value = (text: string) => {
    if (isTemplate(text)) return quote(text).replaceAll("${", "{$");
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
    const { does, path, endpoint, fields, signed, keeps } = requestOf(step, recipe);
    return [
      `// ${does}`,
      `$reply = call("${path}/" . getenv("${endpoint}"), [`,
      ...fields.map(([name, text]) => `    "${name}" => ${value(text)},`),
      `${["]", ...signed.map(value)].join(", ")});`,
      ...Object.entries(keeps).map(([name, field]) => `$${name} = $reply["${field}"];`),
    ].join("\n");
  });
  const head = recipe.oauth ? phpOAuthHead : phpHead;
  return [head, ...(fresh.length > 0 ? [fresh.join("\n")] : []), ...parts].join("\n\n");
}

function writePython(recipe: Recipe): string {
  const value = (text: string) => {
    if (isTemplate(text)) return `f${quote(text).replaceAll("${", "{")}`;
    if (!isVariable(text)) return quote(text);
    return isEnvironment(text) ? `os.environ["${text.slice(1)}"]` : text.slice(1);
  };
  const fresh = Object.entries(recipe.ids).map(
    ([name, word]) => `${name} = "${word}-" + secrets.token_hex(4)`,
  );
  const mints = recipe.steps.some(isMint);
  const own = recipe.oauth ? pythonOAuthHead : pythonHead;
  const head = mints ? own.replace("import hashlib", "import base64, hashlib") : own;
  const parts = recipe.steps.map((step) => {
    if (isMint(step)) {
      return [
        "# A token, as the wallet on the customer's phone gives it to your page.",
        `card = b'${step.card}'`,
        `with urlopen(os.environ["BANK"] + "/wallets/${step.mint}", card) as minted:`,
        `    ${step.keeps} = base64.b64encode(minted.read()).decode()`,
      ].join("\n");
    }
    const { does, path, endpoint, fields, signed, keeps } = requestOf(step, recipe);
    return [
      `# ${does}`,
      `reply = call("${path}/" + os.environ["${endpoint}"], {`,
      ...fields.map(([name, text]) => `    "${name}": ${value(text)},`),
      `${["}", ...signed.map(value)].join(", ")})`,
      ...Object.entries(keeps).map(([name, field]) => `${name} = reply["${field}"]`),
    ].join("\n");
  });
  return [head, ...(fresh.length > 0 ? [fresh.join("\n")] : []), ...parts].join("\n\n");
}

function isEnvironment(text: string): boolean {
  return /^\$[A-Z_]+$/.test(text);
}
