/**
 * Views of the list of orders that a team shares: filters, as they stand in the URL of the page.
 * The search text stays in the user's browser, because it may name a person whose data will be
 * erased one day.
 */
import type { MerchantId } from "../values/ids.ts";
import type { Api, Handlers } from "./api.ts";
import { filterNames } from "./order-index.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";

/** The merchant whose users share views. Undefined for the views that the operators share. */
export type ViewTeam = MerchantId | undefined;

export type SharedView = Api["GET /views"]["output"]["views"][number];

export type ViewOptions = {
  readonly listViews: (team: ViewTeam) => Promise<readonly SharedView[]>;
  readonly shareView: (
    actor: Caller["actor"],
    team: ViewTeam,
    view: Omit<SharedView, "view">,
  ) => Promise<boolean>;
  readonly removeView: (actor: Caller["actor"], team: ViewTeam, view: string) => Promise<boolean>;
};

const allowed: readonly string[] = [...filterNames, "merchant", "from", "until"];
const notFilters = new PortalRefusal(400, "invalid_input", "A shared view has filters alone.");
const tooMany = new PortalRefusal(409, "not_now", "Remove a view first: the team has fifty.");

export function viewHandlers({ listViews, shareView, removeView }: ViewOptions) {
  return {
    "GET /views": async (_, { merchantId }) => ({
      views: await listViews(merchantId),
    }),
    async "POST /views/share"({ name, query }, { actor, account, merchantId }) {
      const names = [...new URLSearchParams(query).keys()];
      if (!names.every((each) => allowed.includes(each))) return notFilters;
      const view = { name, query, sharedBy: account.login };
      return (await shareView(actor, merchantId, view)) ? { done: true } : tooMany;
    },
    async "POST /views/remove/:view"({ view }, { actor, merchantId }) {
      return (await removeView(actor, merchantId, view)) ? { done: true } : notFound;
    },
  } satisfies Partial<Handlers>;
}
