/** The OpenAPI document is valid for a public validator, and names every operation and field. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { operations } from "../gateway/merchant-api/operations/index.ts";
import { pascal } from "./documents/text.ts";
import { root } from "./repository.ts";

const document = JSON.parse(readFileSync(join(root, "docs/openapi.json"), "utf8"));

test("the document is OpenAPI 3.1", async () => {
  const validator = new Validator();

  const { valid, errors } = await validator.validate(structuredClone(document));

  assert.equal(valid, true, JSON.stringify(errors));
  assert.equal(validator.version, "3.1");
});

test("the validator finds a planted fault", async () => {
  const faulty = { ...document, paths: { "/x": { post: { responses: [] } } } };

  const { valid } = await new Validator().validate(faulty);

  assert.equal(valid, false);
});

test("every path and every field is described, and every reference has a target", () => {
  for (const { name, path, request, versions, sync } of operations) {
    const word = versions?.includes("v2") === false ? "SignedRequest" : "Request";
    const schema = document.components.schemas[`${pascal(name)}${word}`];
    const fields = Object.keys(request).filter((field) => field in schema.properties);
    assert.equal(fields.length, Object.keys(request).length, name);
    assert.ok(document.paths[`/gw/api${path.replace("{id}", "{endpoint_id}")}`]?.post, name);
    const waiting = `/gw/api/v2/sync/${name}/{endpoint_id}`;
    assert.equal(document.paths[waiting] !== undefined, sync === true, waiting);
  }
  const used = JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g);
  for (const [, place = ""] of used) {
    const found = place.split("/").reduce((inside, part) => inside?.[part], document);
    assert.ok(found !== undefined, place);
  }
  type Path = Readonly<Record<string, { readonly operationId: string }>>;
  const ids = Object.values<Path>(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, ids.length);
});
