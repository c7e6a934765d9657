/**
 * application/x-www-form-urlencoded (WHATWG URL Standard, section 5), strict: order and repetition
 * are kept, and malformed input is refused where browsers would repair it.
 */
export { type Form, FormFault, type FormPair, parseForm } from "./parse-form.ts";
export { writeForm } from "./write-form.ts";
