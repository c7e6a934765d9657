/**
 * 3-D Secure 1.0.2 for both sides: the merchant plug-in, and the directory server and ACS that it
 * talks to. Readers return a `ThreeDsFault` for all that they refuse and never throw; writers throw
 * for a value that does not fit its table, because the caller made it.
 */
export {
  findMessageKind,
  readCrReq,
  readCrRes,
  readError,
  readPaReq,
  readVeReq,
  readVeRes,
  writeCrReq,
  writeCrRes,
  writeError,
  writePaReq,
  writeVeReq,
  writeVeRes,
} from "./codec.ts";
export type {
  CrReq,
  CrRes,
  ErrorMessage,
  MessageKind,
  PaReq,
  PaRes,
  PaResMessage,
  VeReq,
  VeRes,
} from "./messages.ts";
export { packPa, unpackPa } from "./pack-pa.ts";
export { type PaResSigner, signPaRes } from "./sign-pares.ts";
export { errorCodeFor, ThreeDsFault, type ThreeDsReason } from "./threeds-fault.ts";
export { matchPaRes, type PaResOrder, type PaResTrust, verifyPaRes } from "./verify-pares.ts";
