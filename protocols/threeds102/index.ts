/**
 * 3-D Secure 1.0.2 for both sides: the merchant plug-in, and the directory server and ACS that it
 * talks to. Readers return a `ThreeDsFault` for all that they refuse and never throw; writers throw
 * for a value that does not fit its table, because the caller made it.
 */
export { findMessageKind, packPa, readXml, unpackPa, writeXml } from "./codec.ts";
export { describeXml, writeDescribed } from "./describe.ts";
export type { CrReq, CrRes, PaReq, PaRes, PaResMessage, VeReq, VeRes } from "./messages.ts";
export { errorCodeFor, ThreeDsFault } from "./messages.ts";
export { type PaResShape, type PaResSigner, paResShapes, signPaRes } from "./sign-pares.ts";
export type { PaResTrust } from "./trusted-signer.ts";
export { matchPaRes, type PaResOrder, verifyPaRes } from "./verify-pares.ts";
