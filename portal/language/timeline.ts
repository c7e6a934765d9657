/**
 * Texts of an order's timeline: its events and their facts, the fields of transactions, and why a
 * payment was not approved. The tables are typed by the gateway's own unions, so a new event
 * without a text does not compile.
 */
import type { Api } from "@tollgate/gateway/portal-api";
import type { Row, Rows } from "./rows.ts";

type Detail = Api["GET /orders/:order"]["output"];
type Entry = Detail["timeline"][number];
type Event = Entry["event"];
type Fact = keyof Entry["facts"] | "node" | "address" | "duration";
type TransactionField = Exclude<keyof Detail["transactions"][number], "kind" | "finishedAt">;
type Table<Name extends string> = Readonly<Record<Name, Row>>;

const events: Table<Event> = {
  received: "Received | Angenommen",
  card_entered: "Card entered | Karte eingegeben",
  page_closed: "Payment page closed | Zahlungsseite geschlossen",
  wallet_refused: "Wallet data refused | Wallet-Daten abgewiesen",
  cleared: "Cleared | Freigegeben",
  cleared_for_3ds: "Cleared for 3-D Secure | Freigegeben für 3-D Secure",
  filtered_out: "Filtered out | Gefiltert",
  method_requested: "Method requested | Method angefordert",
  authentication_due: "Authentication due | Authentifizierung steht an",
  enrolment_due: "Enrolment due | Teilnahmeprüfung steht an",
  method_uploaded: "Method result received | Method-Ergebnis erhalten",
  challenge_requested: "Challenge requested | Challenge angefordert",
  challenge_passed: "Challenge passed | Challenge bestanden",
  challenge_returned: "Browser back from the challenge | Browser zurück von der Challenge",
  pareq_requested: "PAReq requested | PAReq angefordert",
  authenticated: "Authenticated | Authentifiziert",
  left_unauthenticated: "Left unauthenticated | Ohne Authentifizierung fortgesetzt",
  authentication_failed: "Authentication failed | Authentifizierung fehlgeschlagen",
  authentication_demanded: `Authentication demanded by the issuer
    | Herausgeber verlangt Authentifizierung`,
  authorized: "Authorized | Autorisiert",
  refused: "Refused | Abgelehnt",
  refused_in_doubt: "Refused, in doubt | Abgelehnt, noch ungeklärt",
  amount_in_doubt: "Amount in doubt | Betrag ungeklärt",
  amount_refused: "Amount refused | Betrag abgelehnt",
  amount_reversed: "Amount reversed | Betrag storniert",
  rerouted: "Sent to another gate | An ein anderes Gate geleitet",
  gate_unavailable: "Gate unavailable | Gate nicht erreichbar",
  outcome_unknown: "Outcome unknown | Ausgang unbekannt",
  outcome_in_question: "Outcome in question | Ausgang wird erfragt",
  charge_not_found: "Charge not found | Belastung nicht gefunden",
  inquiry_not_sent: "Inquiry not sent | Anfrage nicht gesendet",
  inquiry_unanswered: "Inquiry unanswered | Anfrage ohne Antwort",
  charge_not_confirmed: "Charge not confirmed | Belastung nicht bestätigt",
  reversal_not_sent: "Reversal not sent | Storno nicht gesendet",
  repeat_not_sent: "Repeat not sent | Wiederholung nicht gesendet",
  approved_in_part: "Approved in part | Teilweise genehmigt",
  approved_late: "Approved late | Verspätet genehmigt",
  reversed: "Reversed | Storniert",
  part_reversed: "Part reversed | Teil storniert",
  reversal_unanswered: "Reversal unanswered | Storno ohne Antwort",
  reversal_refused: "Reversal refused | Storno abgelehnt",
  original_not_found: "Original not found | Original nicht gefunden",
  prior_approved_late: "Earlier attempt approved late | Früherer Versuch verspätet genehmigt",
  prior_reversed: "Earlier attempt reversed | Früherer Versuch storniert",
  prior_unreversed: "Earlier attempt not reversed yet | Früherer Versuch noch nicht storniert",
  capture_asked: "Capture requested | Einzug angefordert",
  return_asked: "Return requested | Rückgabe angefordert",
  captured: "Captured | Eingezogen",
  returned: "Returned | Zurückgegeben",
  repeat_unanswered: "Repeat unanswered | Wiederholung ohne Antwort",
  repeat_refused: "Repeat refused | Wiederholung abgelehnt",
  charged_back: "Charged back | Rückbelastet",
  operator_alerted: "Operator alerted | Betreiber alarmiert",
  asked_again: "Asked again | Erneut angefragt",
  settled_as_done: "Settled as done | Als ausgeführt geklärt",
  settled_as_not_done: "Settled as not done | Als nicht ausgeführt geklärt",
  expired: "Expired | Abgelaufen",
  claimed: "Claimed by a node | Von einem Knoten übernommen",
  noted: "Noted | Vermerkt",
};

const factNames: Table<Fact> = {
  "reason code": "Reason | Grund",
  "reason detail": "Detail | Einzelheit",
  cause: "Cause | Ursache",
  code: "Response code | Antwortcode",
  "answer responseCode": "Response code | Antwortcode",
  "answer approvalCode": "Approval code | Genehmigungscode",
  "answer networkId": "Network id | Netzwerk-Id",
  gate: "Gate | Gate",
  "gate id": "Removed gate | Entferntes Gate",
  "gate choice": "Why this gate | Warum dieses Gate",
  "gate terminalId": "Terminal | Terminal",
  "threeds version": "3-D Secure | 3-D Secure",
  "threeds directory": "Directory server | Directory Server",
  "authentication status": "Authentication | Authentifizierung",
  "authentication eci": "ECI | ECI",
  "request operation": "Operation | Operation",
  "request by": "By | Von",
  amount: "Amount | Betrag",
  "request comment": "Comment | Kommentar",
  serialNumber: "Serial number | Seriennummer",
  "chargeback stage": "Chargeback | Rückbelastung",
  "chargeback reason": "Chargeback reason | Grund der Rückbelastung",
  "chargeback caseId": "Case | Fall",
  by: "By | Von",
  why: "Reason | Grund",
  node: "Node | Knoten",
  what: "What | Was",
  detail: "Detail | Einzelheit",
  reference: "RRN | RRN",
  address: "Address | Adresse",
  duration: "Took | Dauer",
};

const transactionFields: Table<TransactionField> = {
  amount: "Amount | Betrag",
  stage: "Stage | Stufe",
  status: "Status | Status",
  serialNumber: "Serial number | Seriennummer",
  reference: "RRN | RRN",
  trace: "STAN | STAN",
  terminal: "Terminal | Terminal",
  gate: "Gate | Gate",
  choice: "Why this gate | Warum dieses Gate",
  responseCode: "Response code | Antwortcode",
  approvalCode: "Approval code | Genehmigungscode",
  reason: "Reason | Grund",
};

export const timeline = {
  events,
  factNames,
  transactionFields,
  causes: {
    timeout: "No answer in time | Keine rechtzeitige Antwort",
    link_lost: "Link lost | Verbindung verloren",
    unreadable_answer: "Answer not readable | Antwort nicht lesbar",
    not_sent: "Not sent | Nicht gesendet",
    "cannot be asked": "Acquirer cannot be asked | Acquirer kann nicht gefragt werden",
    gate_unavailable: "No link to the acquirer | Keine Verbindung zum Acquirer",
    card_not_held: "Card data no longer there | Kartendaten nicht mehr vorhanden",
    too_late: "Too late to send | Zum Senden zu spät",
    node_lost: "Node stopped | Knoten ausgefallen",
  },
  followUps: {
    capture: "Capture | Einzug",
    return: "Return | Rückgabe",
  },
  ruleMissing: (what: string) => `not known: ${what} | unbekannt: ${what}`,
  ruleScopes: {
    gateway: "of the gateway | des Gateways",
    merchant: "of the merchant | des Händlers",
    endpoint: "of the endpoint | des Endpunkts",
  },
} satisfies Rows;
