/**
 * 3-D Secure 1.0.2 for both sides: the merchant's plug-in and the directory and ACS it talks to.
 * Readers return a `ThreeDsFault` for what they do not take and never throw; writers throw when
 * a value does not fit its table, because the caller made it.
 */
export {
  findMessageKind,
  readCrReq,
  readCrRes,
  readError,
  readPaReq,
  readUnverifiedPaRes,
  readVeReq,
  readVeRes,
  writeCrReq,
  writeCrRes,
  writeError,
  writePaReq,
  writeUnsignedPaRes,
  writeVeReq,
  writeVeRes,
} from "./codec.ts";
export { errorCodeFor } from "./error-code.ts";
export { matchPaRes, type PaResOrder } from "./match-pares.ts";
export type {
  CardRange,
  CrReq,
  CrRes,
  DirectoryMerchant,
  ErrorMessage,
  InvalidRequest,
  MessageKind,
  PaReq,
  PaRes,
  PaResMessage,
  VeReq,
  VeRes,
} from "./messages.ts";
export { packPa, unpackPa } from "./pack-pa.ts";
export { type PaResSigner, signPaRes } from "./sign-pares.ts";
export { ThreeDsFault, type ThreeDsReason } from "./threeds-fault.ts";
export { type PaResTrust, verifyPaRes } from "./verify-pares.ts";
