/** A brand makes two meanings of the same primitive two types; it exists only for the compiler. */
declare const brand: unique symbol;

export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name };
