/** The tax category of every variant and shipping method that names none. */
export const STANDARD = 'standard'
/** The category that is never taxed: it has no rates, wherever something is delivered to. */
export const UNTAXED = 'untaxed'
