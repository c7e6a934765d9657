/**
 * The German texts of reasons: why a payment was not approved, why the gateway refused something,
 * and how it chose a gate. The English texts are the gateway's own codes and sentences.
 */
import type { Api, RefusedWith } from "@tollgate/gateway/portal-api";
import type { Rows } from "./rows.ts";

type Reason = Exclude<Api["GET /orders/:order"]["output"]["line"]["reason"], "">;

// biome-ignore format: a table
const reasonsInGerman: Readonly<Record<Reason, string>> = {
  malformed_request: "Anfrage nicht lesbar", control_mismatch: "Prüfsumme oder Login falsch", unknown_endpoint: "Endpunkt unbekannt oder ausgeschaltet", missing_parameter: "Pflichtfeld fehlt", invalid_parameter: "Feld hat falsche Form",
  order_not_found: "Zahlung nicht gefunden", duplicate_order: "Zahlung gibt es schon", card_reference_not_found: "Kartenreferenz nicht gefunden", not_allowed_now: "Im jetzigen Zustand nicht möglich", currency_not_supported: "Währung nicht unterstützt",
  amount_out_of_range: "Betrag hier nicht möglich", too_many_requests: "Zu viele Anfragen", not_supported_by_gate: "Vom Acquirer nicht unterstützt", card_reference_expired: "Karte der Referenz abgelaufen", card_reference_removed: "Kartenreferenz entfernt", token_not_found: "Token der Kartenfelder unbekannt oder verbraucht",
  do_not_honour: "Ohne Begründung abgelehnt", expired_card: "Karte abgelaufen", restricted_card: "Karte hier nicht zugelassen", refer_to_issuer: "Karteninhaber muss die Bank fragen", invalid_merchant: "Händler dem Acquirer unbekannt",
  invalid_amount: "Betrag abgelehnt", invalid_card: "Kartennummer ungültig", insufficient_funds: "Deckung reicht nicht aus", no_card_record: "Herausgeber unbekannt", not_permitted: "Der Karte nicht erlaubt", not_permitted_terminal: "Dem Terminal nicht erlaubt",
  limit_exceeded: "Betragslimit der Karte überschritten", security_violation: "Verdacht auf Manipulation", frequency_exceeded: "Häufigkeitslimit der Karte überschritten", cvv_mismatch: "CVV falsch", authentication_required: "3-D Secure verlangt",
  partial_approval_refused: "Nur teilweise genehmigt und storniert", closed_account: "Konto geschlossen", recurring_stopped: "Wiederkehrende Zahlungen gestoppt", address_refused: "Adressergebnis durch Regel abgelehnt", cvv_refused: "CVV-Ergebnis durch Regel abgelehnt", pick_up_card: "Karte einziehen", suspected_fraud: "Betrugsverdacht", lost_card: "Karte verloren gemeldet", stolen_card: "Karte gestohlen gemeldet",
  invalid_transaction: "Transaktionsart nicht angenommen", format_error: "Host konnte die Nachricht nicht lesen", host_malfunction: "Störung beim Host", issuer_unavailable: "Herausgeber antwortet nicht", duplicate_transmission: "Host kennt die Transaktion schon", declined: "Abgelehnt",
  amount_below_minimum: "Unter dem kleinsten Betrag", amount_above_maximum: "Über dem größten Betrag", velocity_exceeded: "Zu viele Zahlungen in kurzer Zeit", too_many_cards: "Zu viele verschiedene Karten", too_many_declines: "Zu viele Ablehnungen", duplicate_purchase: "Derselbe Kauf kurz zuvor",
  first_seen_recently: "Karte oder Zahler ist neu", country_mismatch: "Länder stimmen nicht überein", blocked_by_list: "Gesperrt",
  authentication_failed: "3-D Secure: nicht authentifiziert", authentication_rejected: "3-D Secure: vom Herausgeber abgelehnt", authentication_missing: "3-D Secure verlangt und nicht möglich", method_expired: "3-D Secure: Method-Ergebnis blieb aus", challenge_expired: "3-D Secure: Challenge nicht beendet",
  pares_expired: "3-D Secure 1.0.2: PARes blieb aus", challenge_result_missing: "3-D Secure: Ergebnis blieb aus", pares_refused: "3-D Secure 1.0.2: PARes ungültig", payment_page_expired: "Nicht rechtzeitig auf der Zahlungsseite bezahlt",
  wallet_refused: "Wallet-Daten abgewiesen", wallet_other_type: "Wallet-Daten anderer Art", wallet_not_configured: "Wallet nicht eingerichtet", wallet_bad_signature: "Signatur der Wallet-Daten ungültig", wallet_expired: "Wallet-Daten abgelaufen", wallet_replayed: "Wallet-Daten schon benutzt",
  wallet_other_merchant: "Wallet-Daten eines anderen Händlers", wallet_other_amount: "Wallet-Daten für anderen Betrag", wallet_encoded_twice: "Wallet-Daten doppelt kodiert", wallet_not_decrypted: "Wallet-Daten nicht entschlüsselbar", wallet_bad_card: "Karte in den Wallet-Daten unbrauchbar", wallet_not_supported: "Wallet-Daten nicht unterstützt",
  internal_failure: "Interner Fehler", storage_unavailable: "Speichern derzeit nicht möglich", gate_unavailable: "Keine Verbindung zum Acquirer", reversed_after_doubt: "Ohne Antwort, storniert", processing_expired: "Nicht rechtzeitig verarbeitet", no_gate: "Kein Gate akzeptiert Währung und Betrag",
  settled_by_operator: "Vom Betreiber geklärt: nichts belastet", card_not_held: "Kartendaten nicht mehr vorhanden", value_not_supported: "Authentifizierungswert passt zu keinem Gate", not_voided: "Nicht zurückgenommen: die Belastung bleibt", not_paid_out: "Ohne Antwort, nicht ausgezahlt",
};

/** Translates the sentence that explains the choice of a gate, and keeps the names of gates. */
const choiceInGerman: readonly (readonly [RegExp, string])[] = [
  [/\brank (\d+)/g, "Rang $1"],
  [/\bweight (\d+) of (\d+)/g, "Gewicht $1 von $2"],
  [/\bonly gate\b/g, "einziges Gate"],
  [/, though none was ready/g, ", obwohl keines bereit war"],
  [/, because /g, ", denn "],
  [/ was not ready/g, " war nicht bereit"],
  [/ sends no payouts/g, " zahlt nicht aus"],
  [/ was tried before/g, " wurde schon versucht"],
  [/ does not take so little/g, " akzeptiert keinen so kleinen Betrag"],
  [/ does not take so much/g, " akzeptiert keinen so großen Betrag"],
  [/ does not take ([A-Z]{3})/g, " akzeptiert $1 nicht"],
  [/ has no room for the amount/g, " kann den Betrag nicht darstellen"],
  [/ and /g, " und "],
];

type Code = Exclude<RefusedWith, keyof typeof reasonsInGerman> | "unreachable" | "internal";

// biome-ignore format: a table
const refusals: Readonly<Record<Code, string>> = {
  unreachable: "Das Gateway ist nicht erreichbar.", internal: "Im Gateway ist etwas schiefgegangen.", unavailable: "Das ist gerade nicht möglich. Versuchen Sie es erneut.", busy: "Gerade melden sich zu viele an. Versuchen Sie es erneut.",
  foreign_origin: "Diese Anfrage kommt nicht vom Portal.", signed_out: "Melden Sie sich erneut an.", not_found: "Das gibt es hier nicht.", not_allowed: "Ihre Rolle erlaubt das nicht.",
  out: "Melden Sie sich an.", in: "Sie sind schon angemeldet.", second_factor: "Bestätigen Sie zuerst Ihren zweiten Faktor.", new_password: "Wählen Sie zuerst ein neues Passwort.", enrolment: "Richten Sie zuerst einen zweiten Faktor ein.",
  wrong_credentials: "Benutzername oder Passwort ist falsch.", password_expired: "Dieses vorläufige Passwort ist abgelaufen. Bitten Sie einen Administrator um ein neues.", wrong_password: "Das Passwort ist falsch.", weak_password: "Dieses Passwort ist nicht gut genug.", too_many_tries: "Zu viele Versuche. Warten Sie eine halbe Stunde oder länger, oder bitten Sie einen Administrator um ein neues Passwort.",
  wrong_code: "Der Code ist falsch oder wurde schon benutzt.", has_app: "Schalten Sie zuerst die Codes der jetzigen App aus.", known_passkey: "Dieser Passkey ist schon hinzugefügt.", wrong_passkey: "Der Passkey konnte nicht geprüft werden.",
  second_person: "Eine zweite Person muss das freigeben.",
  taken: "Diesen Benutzernamen gibt es schon.", own_account: "Bitten Sie einen anderen Administrator darum.", no_sandbox: "Es gibt keinen Demonstrationshändler. Starten Sie das Gateway mit npm start.", bank_silent: "Die Sandbox-Bank antwortet nicht.",
  invalid_input: "Eine Angabe ist ungültig.", card_number: "Das könnte eine Kartennummer sein, die hier nicht stehen darf.", refused: "Das wurde abgelehnt.", not_now: "Das geht jetzt nicht.", moved_on: "Die Zahlung hat sich inzwischen geändert. Sehen Sie sie sich noch einmal an.",
  not_in_doubt: "An der Zahlung ist nichts mehr zu klären.", bank_is_asked: "Der Acquirer wird gerade gefragt. Versuchen Sie es in einer Minute erneut.", may_arrive: "Eine Nachricht blieb ohne Antwort. Bis ihre Frist abläuft, kann sie den Acquirer noch erreichen und diese Entscheidung aufheben.", not_in_this_stage: "In der jetzigen Phase lässt sich die Zahlung so nicht klären.",
};

/** The German text of these codes includes the gateway's English sentence, which has details. */
const particular = ["invalid_input", "refused", "not_now", "weak_password", "second_person"];

function findWord(table: Readonly<Record<string, string>>, code: string): string | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}

/** Turns a code like `insufficient_funds` into words. */
function wordsOf(code: string): string {
  const words = code.replaceAll("_", " ").replace(/\b3ds\b/, "3-D Secure");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function refusalInGerman(code: string, sentence: string): string {
  const words = findWord({ ...reasonsInGerman, ...refusals }, code);
  if (words === undefined) return sentence;
  return particular.includes(code) ? `${words} (${sentence})` : words;
}

export const reasons = {
  reasonOf: (code: string) => `${wordsOf(code)}
    | ${findWord(reasonsInGerman, code) ?? wordsOf(code)}`,
  refusalOf: (code: string, sentence: string) => `${sentence} | ${refusalInGerman(code, sentence)}`,
  choiceOf: (choice: string) => `${choice}
    | ${choiceInGerman.reduce((text, [pattern, words]) => text.replace(pattern, words), choice)}`,
} satisfies Rows;
