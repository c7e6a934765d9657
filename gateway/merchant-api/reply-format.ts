/**
 * Content negotiation of replies. The form is the default, also for the `Accept` headers that HTTP
 * libraries send unasked; JSON is for clients that prefer it to every type the form could pass for.
 */
export type ReplyFormat = "form" | "json";

export const contentTypes = {
  form: "text/html;charset=utf-8",
  json: "application/json;charset=utf-8",
} as const;

/** Types that a client which reads the form may name. */
const formTypes = ["*/*", "text/*", "text/html"];

export function formatFor(accept: string | undefined): ReplyFormat {
  if (accept === undefined || !/json/i.test(accept)) return "form";
  const weights = readAccept(accept);
  const weightOf = (type: string) => weights.get(type) ?? 0;
  if (weightOf("application/vnd.pay+json") > 0) return "json";
  const json = weightOf("application/json");
  const isPreferred = json > 0 && [...weights.values()].every((weight) => weight <= json);
  return isPreferred && formTypes.every((type) => weightOf(type) < json) ? "json" : "form";
}

const weightForm = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/;

/**
 * The weights by media range. Parameters other than the weight do not matter here; a media range
 * whose weight is malformed counts as not sent.
 */
function readAccept(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = element.split(";").map((part) => part.trim());
    const weight = parameters.find((each) => each.startsWith("q="))?.slice(2) ?? "1";
    if (!weightForm.test(weight)) continue;
    weights.set(type, Math.max(Number(weight), weights.get(type) ?? 0));
  }
  return weights;
}
