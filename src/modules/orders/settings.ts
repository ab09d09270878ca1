import { Type } from '../../kernel/schema.ts'
import { count, section } from '../../kernel/settings.ts'

export const ordersSettings = section('Checkouts and orders.', {
  checkout_minutes: count('A checkout not changed for so long has expired, in minutes.', 360, 5, 43_200),
  checkouts_per_minute: count('New checkouts, by customer, and of guests by client address.', 30),
  orders_per_minute: count('New orders, by customer, and of guests by client address.', 30),
  pending_per_buyer: count(
    'The most orders that wait for their payment, of one customer, and of guests by e-mail address.',
    5
  ),
  pending_per_address: count('The same, by client address.', 50),
  customer_cancel: Type.Enum(['unpaid', 'unshipped', 'never'], {
    description:
      'Until when those who have ordered may cancel: until it is paid, until it is sent, or never.',
    default: 'unshipped'
  }),
  expiry: section('When orders that are not paid are canceled.', {
    minutes: count('Of orders that are paid at once, such as by card, in minutes.', 30, 1, 43_200),
    transfer_days: count('Of orders that are paid by bank transfer, in days.', 7, 1, 365)
  }),
  completed_after_days: count(
    'An order of which all is sent and paid is completed when nothing has happened to it for so many days.',
    30,
    1,
    3_650
  ),
  unknown_codes_per_minute: count('Codes tried that nobody made, by client address.', 60, 10)
})
