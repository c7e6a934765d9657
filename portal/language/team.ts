/** Texts of the user's account, the team and the audit. */
import { type Rows, some } from "./rows.ts";

export const team = {
  team: "Team | Team",
  audit: "Audit | Protokoll",
  goTo: "Go to … | Öffnen …",
  more: "More | Mehr",
  nothingToGoTo: `Nothing of that name. Paste an order id, or write the name of a screen.
    | Nichts gefunden. Geben Sie eine Zahlungsnummer oder den Namen einer Seite ein.`,
  openOrder: (order: string) => `Open order ${order} | Zahlung ${order} öffnen`,
  searchOrdersFor: (text: string) => `Search orders for “${text}” | Zahlungen suchen: „${text}“`,
  keyboard: "Keyboard shortcuts | Tastenkürzel",
  shortcuts: {
    "Ctrl K": "Go to a screen, an order or an action | Seite, Zahlung oder Aktion öffnen",
    "/": "Search | Suchen",
    j: "Next row | Nächste Zeile",
    k: "Previous row | Vorige Zeile",
    Enter: "Open the row | Zeile öffnen",
    Escape: "Clear, close or go back | Leeren, schließen oder zurück",
    "?": "Show these keys | Tastenkürzel anzeigen",
  },

  passwordHint: `At least 12 characters, letters and digits, none of your last ones. Your other
    sessions end.
    | Mindestens 12 Zeichen mit Buchstaben und Ziffern, keines Ihrer letzten Passwörter. Ihre
    anderen Sitzungen enden.`,
  passwordSaved: `The password is changed. Your other sessions have ended.
    | Das Passwort ist geändert. Ihre anderen Sitzungen sind beendet.`,
  app: "Authenticator app | Authentifizierungs-App",
  appHint: `Codes by time, for sign-in beside your password.
    | Zeitabhängige Codes, die bei der Anmeldung zum Passwort hinzukommen.`,
  turnOn: "Turn on | Einschalten",
  turnOff: "Turn off | Ausschalten",
  scanHint: `Scan the code with your authenticator app, or type the secret into it. Then enter the
    six digits that it shows.
    | Scannen Sie den Code mit Ihrer App oder geben Sie den Schlüssel dort ein. Geben Sie dann die
    sechs Ziffern ein, die sie anzeigt.`,
  qrCode: "QR code for your authenticator app | QR-Code für Ihre App",
  codesLeft: (count: number) => `${count} of 10 left | ${count} von 10 übrig`,
  newCodes: "Make new codes | Neue Codes erzeugen",
  newCodesHint: "The present codes end. | Die bisherigen Codes gelten nicht mehr.",
  copy: "Copy | Kopieren",
  copied: "Copied | Kopiert",
  passwordAgain: "Your password, once more | Ihr Passwort, noch einmal",
  passkeys: "Passkeys | Passkeys",
  passkeysHint: `Your device proves who you are, with a fingerprint, a face or a key. Nothing can be
    phished.
    | Ihr Gerät weist Sie aus, mit Fingerabdruck, Gesicht oder Schlüssel. Phishing ist damit nicht
    möglich.`,
  noPasskeys: "No passkey yet. | Noch kein Passkey.",
  addPasskey: "Add a passkey | Passkey hinzufügen",
  passkeyExample: "Work laptop | Firmenlaptop",
  remove: "Remove | Entfernen",
  passkeyHint: `Use your passkey, or enter a code of your authenticator app or one of your recovery
    codes.
    | Verwenden Sie Ihren Passkey, oder geben Sie einen Code Ihrer App oder einen Ihrer
    Wiederherstellungscodes ein.`,
  usePasskey: "Use a passkey | Passkey verwenden",
  orCode: "or a code | oder ein Code",
  passkeyFailed: `No passkey was used. Try again, or use a code.
    | Es wurde kein Passkey verwendet. Versuchen Sie es erneut oder nehmen Sie einen Code.`,
  noPasskeysHere: `This browser has no passkeys, or the address of this page is not the gateway's
    own.
    | Dieser Browser kennt keine Passkeys, oder die Adresse dieser Seite ist nicht die des
    Gateways.`,
  addedAt: (at: string) => `Added ${at} | Hinzugefügt ${at}`,
  usedAt: (at: string) => `last used ${at} | zuletzt verwendet ${at}`,
  neverUsed: "never used | nie verwendet",
  sessions: "Sessions | Sitzungen",
  thisSession: "This one | Diese",
  endSession: "End | Beenden",
  lastSeen: "Last seen | Zuletzt aktiv",
  endSessionOf: (login: string) => `End the session of ${login} | Sitzung von ${login} beenden`,
  noSessions: "No user is signed in. | Kein Benutzer ist angemeldet.",

  users: "Users | Benutzer",
  signInBy: "Signs in with | Anmeldung mit",
  state: "State | Status",
  roles: {
    admin: "Administrator | Administrator",
    support: "Support | Support",
    finance: "Finance | Finanzen",
    auditor: "Auditor | Prüfer",
    "merchant-admin": "Merchant administrator | Händler-Administrator",
    "merchant-developer": "Merchant developer | Händler-Entwickler",
    "merchant-viewer": "Merchant viewer | Händler (nur Lesen)",
    "merchant-clerk": "Merchant clerk | Händler-Telefonist",
    service: "Program | Programm",
  },
  passwords: {
    own: "Password | Passwort",
    temporary: "Temporary password | Vorläufiges Passwort",
    expired: "Expired temporary password | Abgelaufenes vorläufiges Passwort",
    none: "No password | Kein Passwort",
  },
  withApp: "app | App",
  withPasskeys: (count: number) => `${some(count, "passkey", "passkeys")}
    | ${some(count, "Passkey", "Passkeys")}`,
  enabled: "Enabled | Aktiv",
  disabled: "Disabled | Gesperrt",
  idle: "Not used for 90 days | Seit 90 Tagen nicht benutzt",
  actionsFor: (login: string) => `Actions for ${login} | Aktionen für ${login}`,
  approvals: "Approvals | Freigaben",
  noApprovals: "Nothing waits for a second person | Nichts wartet auf eine Freigabe",
  approvalsHint: `Large returns, settled doubt, new keys and removed second factors may need one.
    | Große Erstattungen, die Klärung ungeklärter Zahlungen, neue Schlüssel und das Entfernen
    zweiter Faktoren können eine zweite Person erfordern.`,
  give: "Approve | Freigeben",
  given: "Approved | Freigegeben",
  askedBy: "Asked by | Beantragt von",
  giveFor: (work: string) => `Approve: ${work} | Freigeben: ${work}`,
  onlyYou: "You are the only user | Sie sind der einzige Benutzer",
  onlyYouHint: `Add a colleague: everyone signs in with a login of their own, so that the audit
    tells who did what.
    | Fügen Sie Kollegen hinzu: Jeder meldet sich mit eigenem Namen an, damit das Protokoll zeigt,
    wer was getan hat.`,

  searchAudit: "Who, what, of what or why | Wer, was, woran oder warum",
  why: "Why | Warum",
  before: "Before | Vorher",
  after: "After | Nachher",
  fromWhere: "From where | Von wo",
  noEntries: "No entry matches | Kein passender Eintrag",
  noEntriesHint: `Search for a login, an action such as merchant add, or an order id.
    | Suchen Sie nach einem Namen, einer Aktion wie merchant add oder einer Zahlungsnummer.`,
  verify: "Verify chain | Kette prüfen",
  verifyHint: `Every entry has the hash of the one before it, and the newest is signed.
    | Jeder Eintrag hat den Hash des vorigen, und der neueste ist signiert.`,
  whole: (entries: number) => `The audit is whole: ${entries} entries, none changed, deleted,
    inserted or reordered.
    | Das Protokoll ist vollständig: ${entries} Einträge, keiner geändert, gelöscht, eingefügt oder
    umgestellt.`,
  broken: "The audit was tampered with: | Das Protokoll wurde verfälscht:",
  proofs: (signatures: number, outside: number, unsigned: number) => `${signatures} signed heads,
    ${outside} heads from outside, ${unsigned} entries since the last signature.
    | ${signatures} signierte Stände, ${outside} extern gesicherte Stände, ${unsigned} Einträge seit
    der letzten Signatur.`,
} satisfies Rows;
