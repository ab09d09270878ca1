import { Type } from '../../kernel/schema.ts'
import { count, section } from '../../kernel/settings.ts'

const limit = (unitsMax: number, sharePercent: number, unitsAlways: number) => ({
  units_max: count('The most units of all variants.', unitsMax, 1, 1_000_000_000),
  share_percent: count(
    'The most of one variant, in percent of its units that are free or reserved by unpaid orders.',
    sharePercent,
    1,
    100
  ),
  units_always: count('Units of a variant that the share never refuses.', unitsAlways, 0, 1_000_000)
})

export const ordersSettings = section('Checkouts and orders.', {
  checkout_minutes: count('A checkout not changed for so long has expired, in minutes.', 360, 5, 43_200),
  checkouts_per_minute: count('New checkouts, by customer, and of guests by client address.', 30),
  orders_per_minute: count('New orders, by customer, and of guests by client address.', 30),
  pending_per_buyer: count(
    'The most orders that wait for their payment, of one customer, and of guests by e-mail address and network.',
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
    transfer_hours: count('Of orders that are paid by bank transfer, in hours.', 24, 1, 8_760),
    transfer_days: count('The same for customers who have verified their e-mail address, in days.', 7, 1, 365)
  }),
  unpaid_stock: section(
    'How much counted stock orders reserve that are paid by bank transfer, on delivery or on account, until they are paid.',
    {
      buyer: section('Orders of one customer, or of one e-mail address of guests.', limit(500, 50, 5)),
      network: section('Orders of one client address, or of one IPv6 network (/64).', limit(1_000, 50, 5)),
      unverified: section(
        'Orders of all guests and of all customers without a verified e-mail address, together.',
        limit(10_000, 80, 20)
      ),
      protected_units: count(
        'Units that no paid order takes from the unpaid orders of a customer with a verified e-mail address, nor from the new card orders of one network, the earliest first.',
        3,
        0,
        1_000_000
      ),
      card_minutes: count(
        'How long an order to be paid by card is new, so that its protected units cannot be taken, in minutes.',
        10,
        0,
        43_200
      ),
      contested_units: count(
        'The most units that pending orders of one client address, or of one IPv6 network (/64), contest: units that unpaid orders reserve, and that an order paid by card takes.',
        100,
        0,
        1_000_000
      ),
      alert_percent: count(
        'Share of a variant reserved by unpaid orders from which on staff get a mail, in percent; 0: none.',
        50,
        0,
        100
      )
    }
  ),
  completed_after_days: count(
    'An order of which all is sent and paid is completed when nothing has happened to it for so many days.',
    30,
    1,
    3_650
  ),
  guest_data_days: count(
    "Days after which the personal data of a guest's completed or canceled order is erased; 0 keeps it.",
    0,
    0,
    36_500
  ),
  unknown_codes_per_minute: count('Codes tried that nobody made, by client address.', 60, 10)
})
