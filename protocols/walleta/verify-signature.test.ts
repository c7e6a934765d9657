/**
 * The signature check compared with pkijs, an independent implementation of CMS, on minted and
 * published tokens and on mutations of them. Ours must never accept a signature that pkijs refuses.
 */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import * as pkijs from "pkijs";
import { type Element, readBer, tags, writeDer, writeIndefinite } from "../shared/asn1.ts";
import { mintToken, WalletFault, type WalletReason, writePayload } from "./index.ts";
import { readToken, signedContent } from "./open-token.ts";
import { issue, mintingOf, payload, readText, trust, vector, wishes } from "./samples.ts";
import { type SignatureTrust, verifySignature } from "./verify-signature.ts";

const plaintext = writePayload(payload);
const publishedTrust = { ...trust, now: vector.nowMs, roots: [readText("root-ca.pem")] };
const samples = [
  sampleOf(mintToken(plaintext, mintingOf("EC_v1")), trust),
  sampleOf(mintToken(plaintext, mintingOf("RSA_v1")), trust),
  sampleOf(JSON.stringify(vector.token), publishedTrust),
];

test("both accept the tokens that are minted and the one that is published", async () => {
  for (const { signature, content, roots } of samples) {
    assert.ok("signingTime" in verifySignature(signature, content, roots));
    assert.ok(await acceptsByPkijs(signature, content, roots));
  }
});

// The places of the signature's parts in the tree.
const signedDataAt = [1, 0];
const digestAt = [...signedDataAt, 1, 0];
const contentAt = [...signedDataAt, 2];
const leafAt = [...signedDataAt, 3, 0];
const intermediateAt = [...signedDataAt, 3, 1];
const signersAt = [...signedDataAt, 4];
const signerAt = [...signersAt, 0];
const empty: Node = { tag: tags.null, content: Buffer.alloc(0), children: [], isIndefinite: false };

// biome-ignore format: a table
const equivalents: readonly (readonly [what: string, edit: (tree: Node) => void])[] = [
  ["definite lengths",               (tree) => { for (const node of nodesOf(tree)) node.isIndefinite = false; }],
  ["an indefinite signer",           (tree) => { at(tree, signerAt).isIndefinite = true; }],
  ["certificates in another order",  (tree) => { at(tree, leafAt.slice(0, -1)).children.reverse(); }],
  ["a further certificate",          (tree) => { at(tree, leafAt.slice(0, -1)).children.push(otherRoot()); }],
  ["a digest without parameters",    (tree) => { at(tree, digestAt).children.length = 1; }],
];

test("both accept another encoding of unsigned parts", async () => {
  for (const [what, edit] of equivalents) {
    for (const { tree, content, roots } of samples) {
      const bytes = edited(tree, edit);
      assert.ok("signingTime" in verifySignature(bytes, content, roots), what);
      assert.ok(await acceptsByPkijs(bytes, content, roots), what);
    }
  }
});

/** The cases in which ours is stricter. No genuine token belongs to any of them. */
// biome-ignore format: a table
const stricter: readonly (readonly [what: string, reason: WalletReason, edit: (tree: Node) => void])[] = [
  ["a content type other than signedData",   "malformed_signature", (tree) => { at(tree, [0]).content[8] = 1; }],
  ["an element after the SignedData",        "malformed_signature", (tree) => { at(tree, [1]).children.push(empty); }],
  ["an element at the end of it",            "malformed_signature", (tree) => { at(tree, signedDataAt).children.push(empty); }],
  ["another version of SignedData",          "malformed_signature", (tree) => { at(tree, [...signedDataAt, 0]).content[0] = 3; }],
  ["no digest algorithm",                    "malformed_signature", (tree) => { at(tree, digestAt.slice(0, -1)).children.length = 0; }],
  ["two digest algorithms",                  "malformed_signature", (tree) => { repeatLast(at(tree, digestAt.slice(0, -1))); }],
  ["parameters of the digest",               "malformed_signature", (tree) => { at(tree, [...digestAt, 1]).tag = tags.octetString; }],
  ["another type of the detached content",   "malformed_signature", (tree) => { at(tree, [...contentAt, 0]).content[8] = 5; }],
  ["two signers",                            "malformed_signature", (tree) => { repeatLast(at(tree, signersAt)); }],
  ["another version of the signer",          "malformed_signature", (tree) => { at(tree, [...signerAt, 0]).content[0] = 3; }],
  ["an element after the signer's serial",   "malformed_signature", (tree) => { repeatLast(at(tree, [...signerAt, 1])); }],
  ["parameters of the signer's digest",      "malformed_signature", (tree) => { at(tree, [...signerAt, 2, 1]).tag = tags.octetString; }],
  ["an issuer in another encoding",          "wrong_certificates",  (tree) => { at(tree, [...signerAt, 1, 0]).isIndefinite = true; }],
  ["an element after a certificate's end",   "wrong_certificates",  (tree) => { repeatLast(at(tree, leafAt)); }],
  ["an element after the leaf's algorithm",  "wrong_certificates",  (tree) => { repeatLast(at(tree, [...leafAt, 1])); }],
  ["one after the intermediate's algorithm", "untrusted_root",      (tree) => { repeatLast(at(tree, [...intermediateAt, 1])); }],
];

test("ours is stricter about forms that the wallet never writes", async () => {
  const [sample] = samples;
  assert.ok(sample !== undefined);
  const { tree, signature, content, roots } = sample;

  for (const [what, reason, edit] of stricter) {
    const bytes = edited(tree, edit);
    assert.deepEqual(verifySignature(bytes, content, roots), new WalletFault(reason), what);
    assert.ok(await acceptsByPkijs(bytes, content, roots), what);
  }
  const longer = Buffer.concat([signature, Buffer.alloc(1)]);
  assert.deepEqual(verifySignature(longer, content, roots), new WalletFault("malformed_signature"));
});

type Mutation = {
  readonly sample: number;
  readonly kind: keyof typeof mutations | "bit" | "insert" | "cut" | "content";
  readonly isInside: boolean;
  readonly first: number;
  readonly second: number;
};

/** Mutations of the node, or of its child at `index`. */
const mutations = {
  remove: ({ children }: Node, index: number) => children.splice(index, 1),
  repeat: ({ children }: Node, index: number) =>
    children.splice(index, 0, ...children.slice(index, index + 1).map(copy)),
  swap: ({ children }: Node, index: number) =>
    children.splice(index, 2, ...children.slice(index, index + 2).reverse()),
  transplant: ({ children }: Node, index: number, random: number) => {
    const donors = samples.flatMap(({ tree }) => nodesOf(tree));
    children.splice(index, random % 2, copy(donors[random % donors.length] ?? empty));
  },
  retag: (node: Node, index: number, random: number) => {
    const others = Object.values(tags);
    const child = node.children[index] ?? node;
    child.tag = others[random % others.length] ?? 0;
  },
  form: (node: Node) => {
    node.isIndefinite = !node.isIndefinite;
  },
};

const mutationKinds = Object.keys(mutations) as (keyof typeof mutations)[];
const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  sample: fc.nat({ max: samples.length - 1 }),
  kind: fc.constantFrom(...mutationKinds, "form", "swap", "bit", "insert", "cut", "content"),
  isInside: fc.boolean(),
  first: fc.nat(),
  second: fc.nat(),
});

/**
 * The reasons for which ours may be stricter: a wrong form, or a certificate that Node cannot use.
 */
const shapeReasons = ["malformed_signature", "wrong_certificates", "untrusted_root"];

test("for any mutation, ours accepts nothing that pkijs refuses, and both verify alike", async () => {
  let [accepted, refused] = [0, 0];
  const property = fc.asyncProperty(anyMutation, async (mutation) => {
    const { roots } = samples[mutation.sample] ?? assert.fail();
    const { signature, content } = mutate(mutation);

    const verified = verifySignature(signature, content, roots);

    if (!(verified instanceof WalletFault)) {
      accepted += 1;
      assert.ok(await acceptsByPkijs(signature, content, roots));
    } else if (!shapeReasons.includes(verified.reason)) {
      refused += 1;
      assert.ok(!(await acceptsByPkijs(signature, content, roots)), verified.reason);
    }
  });

  await fc.assert(property, { seed: 20_261_115, numRuns: 250, interruptAfterTimeLimit: 5_000 });

  assert.ok(accepted > 0 && refused > 0);
});

type Node = { tag: number; content: Buffer; children: Node[]; isIndefinite: boolean };

function sampleOf(text: string, roots: SignatureTrust) {
  const token = readToken(text);
  assert.ok(!(token instanceof WalletFault));
  const element = readBer(token.signature);
  assert.ok(element !== undefined);
  return {
    signature: token.signature,
    content: signedContent(token),
    tree: copy(element),
    roots,
  };
}

/** Checks certificates, signature and digest, but neither the signing time nor the markers. */
async function acceptsByPkijs(
  signature: Buffer,
  content: Buffer,
  { roots, now }: SignatureTrust,
): Promise<boolean> {
  try {
    const { content: schema } = pkijs.ContentInfo.fromBER(signature);
    const verified = await new pkijs.SignedData({ schema }).verify({
      signer: 0,
      data: Uint8Array.from(content).buffer,
      trustedCerts: roots.map((pem) => pkijs.Certificate.fromBER(new X509Certificate(pem).raw)),
      checkChain: true,
      checkDate: new Date(now),
      extendedMode: true,
    });
    return verified.signatureVerified === true && verified.signerCertificateVerified === true;
  } catch {
    return false;
  }
}

function mutate({ sample, kind, isInside, first, second }: Mutation) {
  const { tree, signature, content } = samples[sample] ?? assert.fail();
  const bytes = kind === "content" ? content : signature;
  const place = first % bytes.length;
  const head = bytes.subarray(0, place);
  if (kind === "content" || kind === "bit") {
    const changed = (bytes[place] ?? 0) ^ (1 << (second % 8));
    const mutated = Buffer.concat([head, Buffer.of(changed), bytes.subarray(place + 1)]);
    return kind === "bit" ? { signature: mutated, content } : { signature, content: mutated };
  }
  if (kind === "insert" || kind === "cut") {
    const inserted = kind === "insert" ? Buffer.of(second) : Buffer.alloc(0);
    const rest = bytes.subarray(kind === "insert" ? place : place + 1);
    return { signature: Buffer.concat([head, inserted, rest]), content };
  }
  const edit = (whole: Node) => {
    // Most nodes are inside of certificates, where a change only breaks them, so half of the
    // mutations stay outside.
    const parents = nodesOf(whole, isInside).filter(({ children }) => children.length > 0);
    const node = parents[first % parents.length] ?? whole;
    mutations[kind](node, second % node.children.length, Math.floor(second / 256));
  };
  return { signature: edited(tree, edit), content };
}

function edited(tree: Node, edit: (tree: Node) => void): Buffer {
  const whole = copy(tree);
  edit(whole);
  return write(whole);
}

function write({ tag, content, children, isIndefinite }: Node): Buffer {
  if ((tag & 0x20) === 0) return writeDer(tag, content);
  return (isIndefinite ? writeIndefinite : writeDer)(tag, ...children.map(write));
}

function copy({ tag, content, children, isIndefinite }: Element | Node): Node {
  return { tag, content: Buffer.from(content), children: children.map(copy), isIndefinite };
}

function nodesOf(tree: Node, withCertificates = true): Node[] {
  const certificates = at(tree, leafAt.slice(0, -1)).children;
  const list = (node: Node): Node[] =>
    withCertificates || !certificates.includes(node) ? [node, ...node.children.flatMap(list)] : [];
  return list(tree);
}

function at(tree: Node, path: readonly number[]): Node {
  return path.reduce((node, index) => node.children[index] ?? assert.fail(), tree);
}

function repeatLast({ children }: Node): void {
  children.push(...children.slice(-1).map(copy));
}

function otherRoot(): Node {
  const { raw } = new X509Certificate(issue(wishes.root).pem);
  return copy(readBer(raw) ?? assert.fail());
}
