/** Texts of the sandbox. What the bank says of its cards and switches is in English only. */

// biome-ignore format: a table
export const sandboxEnglish = {
  sandbox: "Sandbox",
  sandboxHint: "No money moves here: the bank behind this gateway runs on the same machine.",
  demonstrationShop: "Demonstration shop",
  testPayments: "Test payments", switches: "Switches", ledger: "Ledger", testCards: "Test cards",
  payments: {
    plain: "Plain sale", frictionless: "3-D Secure, frictionless", challenge: "3-D Secure, with a challenge",
    version1: "3-D Secure 1.0.2", wallet: "Wallet", decline: "Declined by the bank",
  },
  paymentHints: {
    plain: "Approved without 3-D Secure", frictionless: "The issuer asks for nothing", challenge: "You enter the code 1234",
    version1: "A page of the issuer, with a PARes", wallet: "A token in the place of the card", decline: "Too little money on the card",
  },
  pay: "Pay 10.42 USD", goOnAtBank: "Go on at the bank",
  whatHappens: "What happens", payWith: (name: string) => `Pay with ${name}`,
  cardHint: "Any expiry date to come, CVV 123.",
  usual: "usual", set: "Set", reset: "Reset", changedSwitches: (count: number) => `${count} changed`,
  atBank: "At the bank", here: "Here", difference: "Difference", agrees: "Agrees", differs: "Differs", open: "Not ended", unknownHere: "unknown here", nothingBooked: "nothing",
  booksAgree: "Both books agree.", booksDiffer: (count: number) => `${count} ${count === 1 ? "order differs" : "orders differ"}.`,
  ledgerHint: "What the bank has booked for the latest orders, and what the gateway says of them.",
  noBookings: "Nothing is booked yet", noBookingsHint: "Make a test payment: its booking appears here.",
};

// biome-ignore format: a table
export const sandboxGerman: typeof sandboxEnglish = {
  sandbox: "Sandbox",
  sandboxHint: "Hier fließt kein Geld: Die Bank hinter diesem Gateway läuft auf derselben Maschine.",
  demonstrationShop: "Demonstrations-Shop",
  testPayments: "Testzahlungen", switches: "Schalter", ledger: "Bücher", testCards: "Testkarten",
  payments: {
    plain: "Einfache Zahlung", frictionless: "3-D Secure ohne Rückfrage", challenge: "3-D Secure mit Rückfrage",
    version1: "3-D Secure 1.0.2", wallet: "Wallet", decline: "Von der Bank abgelehnt",
  },
  paymentHints: {
    plain: "Genehmigt ohne 3-D Secure", frictionless: "Die Kartenbank fragt nicht nach", challenge: "Sie geben den Code 1234 ein",
    version1: "Eine Seite der Kartenbank, mit PARes", wallet: "Ein Token statt der Karte", decline: "Zu wenig Geld auf der Karte",
  },
  pay: "10,42 USD zahlen", goOnAtBank: "Bei der Bank weiter",
  whatHappens: "Was geschieht", payWith: (name) => `Zahlen mit ${name}`,
  cardHint: "Jedes künftige Ablaufdatum, CVV 123.",
  usual: "üblich", set: "Setzen", reset: "Zurücksetzen", changedSwitches: (count) => `${count} geändert`,
  atBank: "Bei der Bank", here: "Hier", difference: "Unterschied", agrees: "Stimmt", differs: "Weicht ab", open: "Nicht beendet", unknownHere: "hier unbekannt", nothingBooked: "nichts",
  booksAgree: "Beide Bücher stimmen überein.", booksDiffer: (count) => `${count} ${count === 1 ? "Zahlung weicht ab" : "Zahlungen weichen ab"}.`,
  ledgerHint: "Was die Bank für die letzten Zahlungen gebucht hat, und was das Gateway dazu sagt.",
  noBookings: "Noch nichts gebucht", noBookingsHint: "Machen Sie eine Testzahlung: Ihre Buchung erscheint hier.",
};
