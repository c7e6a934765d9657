/** HTTP/1.1 as a client that wants little: a request as text, and the beginning of its answer. */
export { type Answer, type AnswerReader, makeAnswerReader } from "./read-answer.ts";
export { type Request, writeRequest } from "./write-request.ts";
