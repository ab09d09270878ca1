import { defineError } from 'cartwright'

/** One error for unknown, expired and empty cards, so that a guess learns nothing from it. */
export const giftCardUnknownError = defineError(
  'conflict',
  'GIFT_CARD_UNKNOWN',
  'No gift card with credit in this currency has this code. Check the code, or remove the gift card.'
)
export const giftCardGuessesError = defineError(
  'rate_limited',
  'GIFT_CARD_GUESSES_LIMITED',
  'Too many wrong codes of gift cards. Try again later.'
)
export const giftCardReservationError = defineError(
  'conflict',
  'GIFT_CARD_RESERVATION_EXPIRED',
  'The amount of the gift card is no longer reserved. Place the order again.',
  // A card that was voided meanwhile.
  { constraints: ['gift_cards.cards_balance'] }
)
