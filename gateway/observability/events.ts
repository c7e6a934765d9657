/**
 * The catalogue of log events. Every log line has one of these names in `event`, and operators set
 * alerts on them: a name, once released, keeps its meaning. `docs/monitoring.md` lists the table.
 */
type Event = readonly [level: "debug" | "info" | "warn" | "error", meaning: string];

// biome-ignore format: a table
export const events = {
  "order.finished":                      ["info",  "a transaction of the order is final; `stage` and `reason` tell how"],
  "order.in_doubt":                      ["warn",  "a transaction came into doubt, or an attempt to settle it was not answered"],
  "order.doubt_alarm":                   ["error", "the order has been in doubt for longer than `GW_DOUBT_ALARM_S`: an operator must look at it"],
  "order.repeat_refused":                ["error", "the acquirer refused a repeated capture or return, with `code`: the first message may have been carried out. It is repeated; an operator must look at it"],
  "order.reversal_refused":              ["error", "the acquirer refused to reverse a charge, with `code`: the charge may stand. The reversal is repeated; an operator must look at it"],
  "order.late_approval_reversing":       ["warn",  "a charge of a final order is being reversed: the acquirer approved it late, or declined it with a code that says it may yet be done"],
  "order.event_ignored":                 ["warn",  "a result arrived for a transaction that was settled or has moved on; the order's history has it as `noted`"],
  "order.effect_failed":                 ["error", "an effect handler threw an exception; the effect is tried again when its lease expires"],
  "order.claim_failed":                  ["warn",  "the node could not look for due orders; it looks again after `GW_CLAIM_EVERY_S`"],

  "request.answered":                    ["info",  "a merchant's request was answered"],
  "request.refused":                     ["info",  "a merchant's request was refused; `faults` tells why"],
  "request.access_denied":               ["info",  "a merchant's request was not authenticated; `check` tells which check failed"],
  "request.failed":                      ["error", "a request ended with an exception and was answered with an internal error"],
  "request.old_key_unnoted":             ["warn",  "the last use of a merchant's old control key could not be stored"],
  "http.refused":                        ["warn",  "connections, requests or bodies were refused because a bound of the HTTP server was reached; `cause` tells which, `count` how many; at most one line a minute"],
  "http.certificate_unusable":           ["error", "the files of `GW_TLS_CERTIFICATE_FILE` and `GW_TLS_KEY_FILE` have changed and cannot be used; the merchant port keeps the certificate that it has; `cause` tells why"],
  "http.certificate_renewed":            ["info",  "the merchant port shows the new certificate of `file` to new connections"],

  "acquirer.link_up":                    ["info",  "a link of a gate is signed on; `connection` tells which"],
  "acquirer.link_down":                  ["warn",  "a link of a gate is lost, or an attempt to connect failed; `why` tells the cause"],
  "acquirer.link_changed":               ["info",  "a link of a gate is `connecting`, `signing_on` or `closed`"],
  "acquirer.tls_failed":                 ["warn",  "the TLS handshake of a gate's link failed; `why` tells the cause: certificate expired, of an unknown authority, with another name, or the client certificate missing or refused"],
  "acquirer.certificate_unusable":       ["error", "the certificate files of a gate cannot be used; the links keep those that were read before, if any; `cause` tells why"],
  "acquirer.certificate_expiring":       ["warn",  "the gateway's own client certificate at a gate expires soon; `days` tells when"],
  "acquirer.reversal_not_approved":      ["info",  "the host answered a reversal with another code than the one for done; it is not taken for done"],
  "acquirer.message_unmatched":          ["info",  "the host sent a message that answers no open request"],
  "acquirer.message_unreadable":         ["info",  "the host sent bytes that are no ISO 8583 message"],
  "acquirer.message_not_authentic":      ["warn",  "the host sent a message whose authentication code is missing or wrong; the gateway ignores it"],
  "acquirer.mac_key_delivered":          ["info",  "the host has delivered a key for message authentication, with `checkValue`"],
  "acquirer.mac_key_refused":            ["error", "a key that the host delivered is not taken; `cause` tells why. The keys before it stay in use"],
  "acquirer.mac_key_unasked":            ["warn",  "the host could not be asked for its next key; it is asked again"],
  "acquirer.mac_keys_changed":           ["info",  "the node uses these keys of the gate for message authentication, the first one to write"],
  "acquirer.message_unsendable":         ["info",  "a message could not be encoded and was not sent"],
  "acquirer.late_approval":              ["warn",  "the acquirer approved a charge that no request waits for; it is reversed"],
  "acquirer.late_approval_delayed":      ["warn",  "a late approval could not be recorded because the database is away; it is tried again until it is"],
  "acquirer.late_approval_lost":         ["error", "the node ended before a late approval was recorded: have the acquirer reverse it"],

  "threeds.failed":                      ["warn",  "a message of 3-D Secure was missing, invalid or refused; `cause` tells which"],

  "screening.rule_unusable":             ["error", "a configured screening rule does not judge payments: this version does not know its kind or cannot read its parameters; `cause` tells which"],
  "screening.delete_failed":             ["warn",  "old counts of screening could not be deleted; the node tries again"],
  "screening.lists_reload_failed":       ["error", "the allow and block lists could not be read again; the node keeps the entries that it has"],
  "screening.country_file_unusable":     ["error", "the file of `GW_IP_COUNTRY_FILE` cannot be used; the node keeps what it read before, if anything"],
  "screening.undo_failed":               ["warn",  "a repeated request stays counted as a payment in screening: the database was away when it was to be taken back"],

  "directory.failed":                    ["warn",  "a directory server, its files or its card ranges cannot be used; `cause` tells why"],
  "directory.refresh_failed":            ["warn",  "the node could not check whether card ranges are due"],
  "directory.reload_failed":             ["error", "the directory servers could not be read again; the node keeps the previous ones"],
  "directory.certificate_missing":       ["warn",  "`GW_RESULTS_CERTIFICATE_FILE` is not set: challenges cannot be finished"],
  "directory.certificate_reload_failed": ["error", "the certificate for results could not be read again; the node keeps the previous one"],
  "directory.connection_refused":        ["warn",  "clients that tried to post results were refused; `cause` tells why, `count` how many"],
  "directory.result_failed":             ["error", "a result message ended with an exception"],

  "audit.head_unpublished":              ["error", "a signed head of the audit could not be written to `place`, outside of the database; `cause` tells why"],
  "audit.sign_failed":                   ["error", "the newest entry of the audit could not be signed; the node tries again"],

  "wallet.token_refused":                ["info",  "a wallet's payment data was refused; `code` and `detail` tell why"],
  "wallet.token_release_failed":         ["warn",  "a wallet's payment data could not be released after a failed request; it stays used"],
  "wallet.key_unreadable":               ["error", "a wallet key cannot be opened and is not used"],
  "wallet.keys_reload_failed":           ["error", "the wallet keys could not be read again; the node keeps the previous ones"],
  "wallet.roots_unreadable":             ["warn",  "the root certificates or keys of a wallet could not be read"],
  "wallet.worker_lost":                  ["error", "the thread that decrypts wallet tokens ended or hung; a new one is started"],

  "callback.delivered":                  ["debug", "a callback was delivered at the first attempt"],
  "callback.attempted":                  ["info",  "an attempt failed and the callback is due again, or a later attempt delivered it"],
  "callback.ended":                      ["warn",  "a callback is not tried again; `ended` tells whether it was given up or stopped by its receiver"],
  "callback.failed":                     ["error", "sending a callback ended with an exception; it is due again when its lease expires"],
  "callback.claim_failed":               ["warn",  "the node could not look for due callbacks; it looks again after `GW_CLAIM_EVERY_S`"],
  "callback.delete_failed":              ["warn",  "callbacks older than `GW_CALLBACK_KEEP_DAYS` could not be deleted"],
  "callback.worker_lost":                ["error", "the thread that sends callbacks ended or hung; a new one is started"],

  "cell.failed":                         ["error", "a cell could not be searched or cleaned; its merchants wait, the others do not"],
  "vault.keys_reload_failed":            ["error", "the vault's keys could not be read again; the node keeps the previous ones"],
  "vault.removed_cards_destroyed":       ["info",  "cards of removed references were destroyed; `count`"],
  "vault.cards_destroyed":               ["info",  "card numbers were destroyed: those of old orders (`retention`), of erased persons (`erased`) and of removed references (`removed`)"],
  "vault.removed_cards_destroy_failed":  ["warn",  "cards of removed references or of old orders could not be destroyed; the node tries again"],
  "vault.pending_cards_delete_failed":   ["warn",  "expired pending card data could not be deleted"],
  "storage.step_stuck":                  ["error", "the database refuses to read or write a step of an order that must not be lost, such as an acquirer's answer; the node keeps it in memory and tries again every 5 s until it succeeds. Remove the cause before you stop the node"],
  "storage.partitions_changed":          ["info",  "partitions by month were `made` for the next months, or `dropped` because they are older than what is kept"],
  "storage.partitions_failed":           ["error", "partitions by month could not be made or dropped; the node tries again in an hour. Payments go on: the default partition takes their rows"],
  "configuration.reload_failed":         ["error", "merchants, endpoints and gates could not be read again; the node keeps the previous ones"],
  "bin_table.reload_failed":             ["error", "the BIN table could not be read again; the node keeps the previous one"],
  "node.clock_jumped":                   ["warn",  "the node's own clock was set, or the database's time differs from before, by `jumpMs`; the node has measured it again"],
  "node.clock_skewed":                   ["warn",  "the node's own clock is ahead of the database's by `skewMs` (behind when negative), more than `GW_CLOCK_SKEW_ALERT_S`. The node corrects it; synchronise the machine's clock"],
  "node.clock_unmeasured":               ["warn",  "the node could not compare its clock with the database's; it goes by the last comparison"],
  "node.renamed":                        ["error", "the node was without the database while another node took its name `from`; it goes on as `to`. Give every node a `GW_NODE_NAME` of its own"],
  "node.on_hold":                        ["error", "the installation is on hold, `why` tells the reason: the node answers the status of orders and sends nothing until `gw restore release`"],
  "node.released":                       ["info",  "the installation was released: payments go on"],
  "node.server_unknown":                 ["warn",  "the database server does not tell its identity, so that the node does not recognize a copy of the database; `cause` tells why"],
  "node.presence_lost":                  ["warn",  "the node lost the database connection that holds its name and brings notices; it connects again"],
  "log.lines_dropped":                   ["error", "the log could not be written, and `count` lines found no room in memory: see whether the disk was full"],
  "page.logo_unusable":                  ["warn",  "the file of `GW_PAGE_LOGO_FILE` cannot be shown on cardholders' pages; `cause` tells why"],
} as const satisfies Readonly<Record<string, Event>>;

export type EventName = keyof typeof events;
