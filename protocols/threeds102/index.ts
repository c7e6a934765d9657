/**
 * 3-D Secure 1.0.2 for both sides: the merchant plug-in, and the directory server and ACS with
 * which it communicates. Readers return a `ThreeDsFault` for everything that they refuse and never
 * throw. Writers throw for a value that does not fit its table, because the caller made it.
 */
export {
  describeXml,
  findMessageKind,
  packPa,
  readXml,
  unpackPa,
  writeDescribed,
  writeXml,
} from "./codec.ts";
export type { CrReq, CrRes, PaReq, PaRes, PaResMessage, VeReq, VeRes } from "./messages.ts";
export { errorCodeFor, ThreeDsFault } from "./messages.ts";
export {
  matchPaRes,
  type PaResOrder,
  type PaResShape,
  type PaResSigner,
  type PaResTrust,
  paResShapes,
  signPaRes,
  verifyPaRes,
} from "./signed-pares.ts";
