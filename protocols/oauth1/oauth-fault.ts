/** Why a header or a request is not as OAuth wants it: for the log, never for whoever sent it. */

export class OAuthFault {
  readonly reason: Reason;

  constructor(reason: Reason) {
    this.reason = reason;
  }
}

type Reason =
  | "no_header"
  | "other_scheme"
  | "malformed_header"
  | "repeated_parameter"
  | "missing_parameter"
  | "other_signature_method"
  | "other_version"
  | "malformed_timestamp"
  | "malformed_url"
  | "malformed_query"
  | "parameter_in_two_places";
