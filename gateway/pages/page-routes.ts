/**
 * The routes of the pages for browsers: payment pages, payment links, hosted fields, 3-D Secure,
 * the return to the shop, and receipts.
 */
import { makeNetworkLimit } from "../http/bounds.ts";
import type { HttpRoute } from "../http/router.ts";
import type { Clock } from "../values/time.ts";
import type { Wallets } from "../wallets/wallets.ts";
import { type ReceiptRouteOptions, receiptRoute } from "./cardholder/receipts.ts";
import { type CardholderOptions, cardholderRoutes } from "./cardholder/routes.ts";
import { openTheme } from "./design.ts";
import { type HostedFieldsOptions, hostedFieldsRoutes } from "./fields/routes.ts";
import { makeAssets } from "./payment/assets.ts";
import {
  type LinkPageDependencies,
  makeFindCode,
  makeFindPage,
  makeFindPayable,
  type OrderPageDependencies,
} from "./payment/payable.ts";
import { makeTakeReport, type Violation } from "./payment/policy-reports.ts";
import { paymentRoutes } from "./payment/routes.ts";
import { type WalletRouteOptions, walletRoutes } from "./payment/wallet-routes.ts";

type Options = Omit<ReceiptRouteOptions, "theme" | "clock" | "pathWord"> &
  Pick<CardholderOptions, "threeds" | "returnOf" | "embedOriginsOf"> &
  Pick<LinkPageDependencies, "paymentLinks" | "isLink"> &
  Pick<WalletRouteOptions, "findFile"> &
  Pick<HostedFieldsOptions, "hostedFields" | "findEntryPoint"> & {
    readonly clock: Clock;
    readonly settings: {
      readonly pathWord: string;
      /** Empty if the operator has set no name. */
      readonly pageName: string;
      readonly pageAccent: string;
      readonly pageLogoFile: string;
      readonly baseUrl: string;
      readonly rehearsal: boolean;
      readonly walletaMethod: string;
      readonly walletbMethod: string;
      readonly paymentPostsPerSecond: number;
    };
    readonly paymentPages: OrderPageDependencies["pages"] &
      LinkPageDependencies["paymentPages"] & { readonly urlOf: CardholderOptions["payPageOf"] };
    /** The limits against card testing. */
    readonly pageTries: OrderPageDependencies["pageTries"] &
      LinkPageDependencies["pageTries"] &
      HostedFieldsOptions["tries"];
    readonly sessions: Wallets["sessions"];
    /** The gateway's public address. */
    readonly baseUrl: () => string;
    /** In staging, the script that simulates the wallets' payment sheets. */
    readonly walletSheet: string | undefined;
    readonly onViolation: (violation: Violation) => void;
    readonly log: (event: "page.logo_unusable" | "page.policy_violated", facts: object) => void;
  };

export function pageRoutes(options: Options): readonly HttpRoute[] {
  const { settings, clock, addressOf, baseUrl, paymentPages, sessions, log } = options;
  const { pathWord, pageName: name, pageLogoFile: logoFile } = settings;
  const theme = openTheme({
    name,
    host: URL.parse(settings.baseUrl)?.host ?? "",
    accent: settings.pageAccent,
    logoFile,
    isRehearsal: settings.rehearsal,
    onBadLogo: (cause) => log("page.logo_unusable", { file: logoFile, cause }),
  });
  const walletMethods = {
    walleta: settings.walletaMethod,
    walletb: settings.walletbMethod,
    hasIdentity: sessions.hasIdentity,
  };
  const find = makeFindPage({
    ...options,
    walletMethods,
    findOrder: makeFindPayable({ ...options, pages: paymentPages, walletMethods }),
    pathWord,
    isSecure: () => baseUrl().startsWith("https:"),
  });
  const posts = { perSecond: settings.paymentPostsPerSecond };
  const isTooFast = makeNetworkLimit(posts, clock, addressOf);
  const domain = () => URL.parse(baseUrl())?.hostname ?? "";
  return [
    ...cardholderRoutes({ ...options, pathWord, theme, payPageOf: paymentPages.urlOf }),
    ...paymentRoutes({
      theme,
      assets: makeAssets(options.walletSheet),
      operator: name,
      addressOf,
      find,
      isTooFast,
      takeReport: makeTakeReport({
        clock,
        addressOf,
        onViolation: options.onViolation,
        onSummary: (violation, count) => log("page.policy_violated", { violation, count }),
      }),
      findCode: makeFindCode(options.paymentLinks, baseUrl),
    }),
    ...walletRoutes({
      find,
      isTooFast,
      askSession: (merchant, asked) => sessions.ask(merchant, { ...asked, domain: domain() }),
      findFile: options.findFile,
    }),
    ...hostedFieldsRoutes({ ...options, pathWord, isTooFast, tries: options.pageTries }),
    receiptRoute({ ...options, pathWord, theme }),
  ];
}
