/**
 * EMV 3-D Secure 2.1.0, 2.2.0 and 2.3.1 as a pure codec. Tables describe the messages, and the same
 * tables check incoming and outgoing ones. Faults name elements, never their values.
 */
export * from "./codec.ts";
export * from "./message.ts";
