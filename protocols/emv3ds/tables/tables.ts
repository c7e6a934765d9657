/** Every message and its table. Type and version are read before a table is chosen. */
import type { MessageType } from "../message.ts";
import type { Row } from "../rows.ts";
import { areq } from "./areq.ts";
import { ares } from "./ares.ts";
import { creq, cres, rreq, rres } from "./challenge.ts";
import { erro } from "./erro.ts";
import { preq, pres } from "./preparation.ts";

// biome-ignore format: a table
export const tables: Readonly<Record<MessageType, readonly Row[]>> = {
  PReq: preq, PRes: pres,
  AReq: areq, ARes: ares,
  CReq: creq, CRes: cres,
  RReq: rreq, RRes: rres,
  Erro: erro,
};
