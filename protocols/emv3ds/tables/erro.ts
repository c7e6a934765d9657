/** Erro. It is never answered with another, so only what its reader needs is required. */
import { digits, oneOf, text, uuid } from "../checks.ts";
import { O, R, type Row } from "../rows.ts";

// biome-ignore format: a table
export const erro: readonly Row[] = [
  // element               value                      2.1.0 2.2.0 2.3.1
  ["threeDSServerTransID", uuid,                      O, O, O],
  ["dsTransID",            uuid,                      O, O, O],
  ["acsTransID",           uuid,                      O, O, O],
  ["errorCode",            digits(3, 3),              R, R, R],
  ["errorComponent",       oneOf("C", "S", "D", "A"), R, R, R],
  ["errorDescription",     text(1, 2048),             R, R, R],
  ["errorDetail",          text(1, 2048),             R, R, R],
  ["errorMessageType",     text(4, 4),                O, O, O],
];
