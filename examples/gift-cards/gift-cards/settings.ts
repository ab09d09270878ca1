import { settings, Type } from 'cartwright'

export const giftCardSettings = settings.settingsSection('Gift cards.', {
  products: Type.Array(
    Type.Object(
      {
        sku: Type.String({ minLength: 1, description: 'SKU of a variant that is sold as a gift card.' }),
        worth: Type.Integer({ minimum: 1, description: 'Amount on the card, in minor units, such as cents.' })
      },
      { additionalProperties: false }
    ),
    {
      description: 'What customers can buy as a gift card. The card has the currency of the order.',
      default: []
    }
  ),
  valid_days: settings.integerSetting('Days from its purchase until a card expires.', 1_095, 1, 36_500),
  refund_valid_days: settings.integerSetting(
    'Days that a card stays valid at least after a refund to it.',
    90,
    1,
    36_500
  ),
  wrong_codes_per_minute: settings.integerSetting(
    'Wrong codes per minute of one network, and a hundred times as many in total, before look-ups are refused.',
    10
  )
})
