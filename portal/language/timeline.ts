/**
 * The words of an order's timeline: its events and their facts, the transactions' fields, and why a
 * payment was not approved. The tables are typed by the gateway's own unions: a new event without
 * its words does not compile.
 */
import type { OutputOf } from "../shell/call.ts";

type Detail = OutputOf<"GET /orders/:order">;
type Entry = Detail["timeline"][number];
type Event = Entry["event"];
type Fact = keyof Entry["facts"] | "node" | "address" | "duration";
type TransactionField = Exclude<keyof Detail["transactions"][number], "kind" | "finishedAt">;
type Reason = Exclude<Detail["line"]["reason"], "">;
type Table<Name extends string> = Readonly<Record<Name, string>>;

// biome-ignore format: a table
const eventsEnglish: Table<Event> = {
  received: "Received", card_entered: "Card entered", page_closed: "Payment page closed", wallet_refused: "Wallet data refused",
  cleared: "Cleared", cleared_for_3ds: "Cleared for 3-D Secure", filtered_out: "Filtered out",
  method_requested: "Method requested", authentication_due: "Authentication due", enrolment_due: "Enrolment due", method_uploaded: "Method result received",
  challenge_requested: "Challenge requested", challenge_passed: "Challenge passed", challenge_returned: "Browser back from the challenge", pareq_requested: "PAReq requested",
  authenticated: "Authenticated", left_unauthenticated: "Left unauthenticated", authentication_failed: "Authentication failed", authentication_demanded: "Authentication demanded by the issuer",
  authorized: "Authorized", refused: "Refused", refused_in_doubt: "Refused, in doubt", amount_in_doubt: "Amount in doubt", amount_refused: "Amount refused", amount_reversed: "Amount reversed",
  rerouted: "Sent to another gate", gate_unavailable: "Gate unavailable", outcome_unknown: "Outcome unknown", outcome_in_question: "Outcome in question", charge_not_found: "Charge not found",
  approved_in_part: "Approved in part", approved_late: "Approved late", reversed: "Reversed", part_reversed: "Part reversed", reversal_unanswered: "Reversal unanswered", reversal_refused: "Reversal refused", original_not_found: "Original not found",
  prior_approved_late: "Earlier attempt approved late", prior_reversed: "Earlier attempt reversed", prior_unreversed: "Earlier attempt not reversed yet",
  capture_asked: "Capture requested", return_asked: "Return requested", captured: "Captured", returned: "Returned", repeat_unanswered: "Repeat unanswered", repeat_refused: "Repeat refused",
  charged_back: "Charged back", operator_alerted: "Operator alerted", asked_again: "Asked again", settled_as_done: "Settled as done", settled_as_not_done: "Settled as not done",
  expired: "Expired", claimed: "Claimed by a node", noted: "Noted",
};

// biome-ignore format: a table
const eventsGerman: typeof eventsEnglish = {
  received: "Angenommen", card_entered: "Karte eingegeben", page_closed: "Zahlungsseite geschlossen", wallet_refused: "Wallet-Daten abgewiesen",
  cleared: "Freigegeben", cleared_for_3ds: "Freigegeben für 3-D Secure", filtered_out: "Herausgefiltert",
  method_requested: "Method angefordert", authentication_due: "Authentifizierung steht an", enrolment_due: "Teilnahmeprüfung steht an", method_uploaded: "Method-Ergebnis erhalten",
  challenge_requested: "Challenge verlangt", challenge_passed: "Challenge bestanden", challenge_returned: "Browser zurück von der Challenge", pareq_requested: "PAReq verlangt",
  authenticated: "Authentifiziert", left_unauthenticated: "Ohne Authentifizierung fortgesetzt", authentication_failed: "Authentifizierung gescheitert", authentication_demanded: "Herausgeber verlangt Authentifizierung",
  authorized: "Autorisiert", refused: "Abgelehnt", refused_in_doubt: "Abgelehnt, im Zweifel", amount_in_doubt: "Betrag im Zweifel", amount_refused: "Betrag abgelehnt", amount_reversed: "Betrag storniert",
  rerouted: "An ein anderes Gate gegeben", gate_unavailable: "Gate nicht erreichbar", outcome_unknown: "Ausgang unbekannt", outcome_in_question: "Ausgang wird erfragt", charge_not_found: "Belastung nicht gefunden",
  approved_in_part: "Teilweise genehmigt", approved_late: "Spät genehmigt", reversed: "Storniert", part_reversed: "Teil storniert", reversal_unanswered: "Storno ohne Antwort", reversal_refused: "Storno abgelehnt", original_not_found: "Original nicht gefunden",
  prior_approved_late: "Früherer Versuch spät genehmigt", prior_reversed: "Früherer Versuch storniert", prior_unreversed: "Früherer Versuch noch nicht storniert",
  capture_asked: "Einzug verlangt", return_asked: "Rückgabe verlangt", captured: "Eingezogen", returned: "Zurückgegeben", repeat_unanswered: "Wiederholung ohne Antwort", repeat_refused: "Wiederholung abgelehnt",
  charged_back: "Rückbelastet", operator_alerted: "Betreiber alarmiert", asked_again: "Erneut angefragt", settled_as_done: "Als ausgeführt geklärt", settled_as_not_done: "Als nicht ausgeführt geklärt",
  expired: "Abgelaufen", claimed: "Von einem Knoten übernommen", noted: "Vermerkt",
};

// biome-ignore format: a table
const factsEnglish: Table<Fact> = {
  "reason code": "Reason", "reason detail": "Detail", cause: "Cause", code: "Response code",
  "answer responseCode": "Response code", "answer approvalCode": "Approval code", "answer networkId": "Network id",
  "gate id": "Gate", "gate choice": "Why this gate", "gate terminalId": "Terminal",
  "threeds version": "3-D Secure", "threeds directory": "Directory server", "authentication status": "Authentication", "authentication eci": "ECI",
  "request operation": "Operation", "request comment": "Comment", serialNumber: "Serial number",
  "chargeback stage": "Chargeback", "chargeback reason": "Chargeback reason", "chargeback caseId": "Case",
  by: "By", why: "Reason", node: "Node", what: "What", detail: "Detail", reference: "RRN", address: "Address", duration: "Took",
};

// biome-ignore format: a table
const factsGerman: typeof factsEnglish = {
  "reason code": "Grund", "reason detail": "Einzelheit", cause: "Ursache", code: "Antwortcode",
  "answer responseCode": "Antwortcode", "answer approvalCode": "Genehmigungscode", "answer networkId": "Netzwerk-Id",
  "gate id": "Gate", "gate choice": "Warum dieses Gate", "gate terminalId": "Terminal",
  "threeds version": "3-D Secure", "threeds directory": "Directory Server", "authentication status": "Authentifizierung", "authentication eci": "ECI",
  "request operation": "Operation", "request comment": "Bemerkung", serialNumber: "Seriennummer",
  "chargeback stage": "Rückbelastung", "chargeback reason": "Grund der Rückbelastung", "chargeback caseId": "Fall",
  by: "Von", why: "Grund", node: "Knoten", what: "Was", detail: "Einzelheit", reference: "RRN", address: "Adresse", duration: "Dauer",
};

// biome-ignore format: a table
const transactionEnglish: Table<TransactionField> = {
  amount: "Amount", stage: "Stage", status: "Status", serialNumber: "Serial number", reference: "RRN", trace: "STAN", terminal: "Terminal",
  gate: "Gate", choice: "Why this gate", responseCode: "Response code", approvalCode: "Approval code", reason: "Reason",
};

// biome-ignore format: a table
const transactionGerman: typeof transactionEnglish = {
  amount: "Betrag", stage: "Stufe", status: "Status", serialNumber: "Seriennummer", reference: "RRN", trace: "STAN", terminal: "Terminal",
  gate: "Gate", choice: "Warum dieses Gate", responseCode: "Antwortcode", approvalCode: "Genehmigungscode", reason: "Grund",
};

// biome-ignore format: a table
const reasonsGerman: Table<Reason> = {
  malformed_request: "Anfrage nicht lesbar", control_mismatch: "Prüfsumme oder Login falsch", unknown_endpoint: "Endpunkt unbekannt oder ausgeschaltet", missing_parameter: "Pflichtfeld fehlt", invalid_parameter: "Feld hat falsche Form",
  order_not_found: "Zahlung nicht gefunden", duplicate_order: "Zahlung gibt es schon", card_reference_not_found: "Kartenreferenz nicht gefunden", not_allowed_now: "Im jetzigen Zustand nicht möglich", currency_not_supported: "Währung nicht unterstützt",
  amount_out_of_range: "Betrag hier nicht möglich", too_many_requests: "Zu viele Anfragen", not_supported_by_gate: "Vom Acquirer nicht unterstützt", card_reference_expired: "Karte der Referenz abgelaufen", card_reference_removed: "Kartenreferenz entfernt",
  do_not_honour: "Ohne Begründung abgelehnt", expired_card: "Karte abgelaufen", restricted_card: "Karte hier nicht zugelassen", refer_to_issuer: "Karteninhaber muss die Bank fragen", invalid_merchant: "Händler dem Acquirer unbekannt",
  invalid_amount: "Betrag abgelehnt", invalid_card: "Kartennummer ungültig", insufficient_funds: "Deckung reicht nicht", no_card_record: "Herausgeber unbekannt", not_permitted: "Der Karte nicht erlaubt", not_permitted_terminal: "Dem Terminal nicht erlaubt",
  limit_exceeded: "Betragslimit der Karte überschritten", security_violation: "Verdacht auf Manipulation", frequency_exceeded: "Häufigkeitslimit der Karte überschritten", cvv_mismatch: "CVV falsch", authentication_required: "3-D Secure verlangt",
  partial_approval_refused: "Nur teilweise genehmigt und storniert", closed_account: "Konto geschlossen", recurring_stopped: "Wiederkehrende Zahlungen gestoppt", pick_up_card: "Karte einziehen", suspected_fraud: "Betrugsverdacht", lost_card: "Karte verloren gemeldet", stolen_card: "Karte gestohlen gemeldet",
  invalid_transaction: "Transaktionsart nicht angenommen", format_error: "Host konnte die Nachricht nicht lesen", host_malfunction: "Störung beim Host", issuer_unavailable: "Herausgeber antwortet nicht", duplicate_transmission: "Host kennt die Transaktion schon", declined: "Abgelehnt",
  amount_below_minimum: "Unter dem kleinsten Betrag", amount_above_maximum: "Über dem größten Betrag", velocity_exceeded: "Zu viele Zahlungen in kurzer Zeit", too_many_cards: "Zu viele verschiedene Karten", too_many_declines: "Zu viele Ablehnungen in Folge", duplicate_purchase: "Derselbe Kauf kurz zuvor",
  first_seen_recently: "Karte oder Zahler ist neu", country_mismatch: "Länder stimmen nicht überein", blocked_by_list: "Gesperrt",
  authentication_failed: "3-D Secure: nicht authentifiziert", authentication_rejected: "3-D Secure: vom Herausgeber untersagt", authentication_missing: "3-D Secure verlangt und nicht möglich", method_expired: "3-D Secure: Method-Ergebnis blieb aus", challenge_expired: "3-D Secure: Challenge nicht beendet",
  pares_expired: "3-D Secure 1.0.2: PARes blieb aus", challenge_result_missing: "3-D Secure: Ergebnis blieb aus", pares_refused: "3-D Secure 1.0.2: PARes ungültig", payment_page_expired: "Nicht rechtzeitig auf der Zahlungsseite bezahlt",
  wallet_refused: "Wallet-Daten abgewiesen", wallet_other_type: "Wallet-Daten anderer Art", wallet_not_configured: "Wallet nicht eingerichtet", wallet_bad_signature: "Signatur der Wallet-Daten ungültig", wallet_expired: "Wallet-Daten abgelaufen", wallet_replayed: "Wallet-Daten schon benutzt",
  wallet_other_merchant: "Wallet-Daten eines anderen Händlers", wallet_other_amount: "Wallet-Daten für anderen Betrag", wallet_encoded_twice: "Wallet-Daten doppelt kodiert", wallet_not_decrypted: "Wallet-Daten nicht zu öffnen", wallet_bad_card: "Karte in den Wallet-Daten unbrauchbar", wallet_not_supported: "Wallet-Daten nicht unterstützt",
  internal_failure: "Interner Fehler", storage_unavailable: "Gerade nicht zu speichern", gate_unavailable: "Keine Verbindung zum Acquirer", reversed_after_doubt: "Ohne Antwort, storniert", processing_expired: "Nicht rechtzeitig verarbeitet", no_gate: "Kein Gate nimmt Währung und Betrag",
  settled_by_operator: "Vom Betreiber geklärt: nichts belastet", card_not_held: "Kartendaten nicht mehr vorhanden", value_not_supported: "Authentifizierungswert passt zu keinem Gate",
};

/** How the choice of a gate is told; gates' names stay between these. */
const choiceGerman: readonly (readonly [RegExp, string])[] = [
  [/\brank (\d+)/g, "Rang $1"],
  [/\bweight (\d+) of (\d+)/g, "Gewicht $1 von $2"],
  [/\bonly gate\b/g, "einziges Gate"],
  [/, though none was ready/g, ", obwohl keines bereit war"],
  [/, because /g, ", denn "],
  [/ was not ready/g, " war nicht bereit"],
  [/ was tried before/g, " wurde schon versucht"],
  [/ does not take so little/g, " nimmt so wenig nicht"],
  [/ does not take so much/g, " nimmt so viel nicht"],
  [/ does not take ([A-Z]{3})/g, " nimmt $1 nicht"],
  [/ has no room for the amount/g, " hat keinen Platz für den Betrag"],
  [/ and /g, " und "],
];

/** `insufficient_funds` as people read it. */
function wordsOf(code: string): string {
  const words = code.replaceAll("_", " ").replace(/\b3ds\b/, "3-D Secure");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function reasonIn(table: Readonly<Record<string, string>>, code: string): string {
  return (Object.hasOwn(table, code) ? table[code] : undefined) ?? wordsOf(code);
}

// biome-ignore format: a table
export const timelineEnglish = {
  events: eventsEnglish,
  factNames: factsEnglish,
  transactionFields: transactionEnglish,
  reasonOf: wordsOf,
  choiceOf: (choice: string) => choice,
  causes: { timeout: "No answer in time", link_lost: "Link lost", unreadable_answer: "Answer not readable", not_sent: "Not sent" },
  followUps: { capture: "Capture", return: "Return" },
  ruleMissing: (what: string) => `not known: ${what}`,
  ruleScopes: { gateway: "of the gateway", merchant: "of the merchant", endpoint: "of the endpoint" },
};

// biome-ignore format: a table
export const timelineGerman: typeof timelineEnglish = {
  events: eventsGerman,
  factNames: factsGerman,
  transactionFields: transactionGerman,
  reasonOf: (code) => reasonIn(reasonsGerman, code),
  choiceOf: (choice) => choiceGerman.reduce((text, [pattern, words]) => text.replace(pattern, words), choice),
  causes: { timeout: "Keine Antwort in der Zeit", link_lost: "Verbindung verloren", unreadable_answer: "Antwort nicht lesbar", not_sent: "Nicht gesendet" },
  followUps: { capture: "Einzug", return: "Rückgabe" },
  ruleMissing: (what) => `unbekannt: ${what}`,
  ruleScopes: { gateway: "des Gateways", merchant: "des Händlers", endpoint: "des Endpunkts" },
};
