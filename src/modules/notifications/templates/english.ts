import type { MailTemplateName } from './definitions.ts'
import { createDefaultMailTemplateBuilder, type MailTemplateSource } from './mail-parts.ts'

const { plain, orderMail, shipmentMail, linkMail } = createDefaultMailTemplateBuilder({
  hello: 'Hello',
  order: {
    discount: 'Discount',
    shipping: 'Shipping',
    tax: 'Tax',
    included: 'Tax included',
    total: 'Total',
    due: 'Amount due'
  },
  seeOrder: 'See your order',
  seeButton: 'See your order',
  trackingNumber: 'Tracking number',
  until: 'The link is valid until {{ expires_at | moment }}.',
  unsubscribe: 'Unsubscribe from mails like this one',
  unsubscribeLink: 'Unsubscribe from mails like this one'
})

export const englishMailTemplates: Readonly<Record<MailTemplateName, MailTemplateSource>> = {
  welcome: plain(
    'Welcome to {{ shop.name }}',
    'Your account is ready. Thank you for joining us.',
    "{% if shop.url != '' %}Have a look around: {{ shop.url }}{% endif %}"
  ),
  verify_email: linkMail(
    'Confirm your e-mail address',
    'Please confirm that this is your e-mail address.',
    'Confirm',
    'If you did not request this, you can ignore this mail.'
  ),
  reset_password: linkMail(
    'Choose a new password',
    'We received a request to reset the password of your account.',
    'Choose a password',
    'If you did not request this, you can ignore this mail. Your password stays as it is.'
  ),
  password_changed: plain(
    'Your password was changed',
    'The password of your account was changed on {{ at | moment }}.',
    'If it was not you, choose a new password immediately and contact us.'
  ),
  api_key_created: plain(
    'An API key was created for your account',
    'The API key “{{ name }}” was created for your account on {{ at | moment }}. It has the same rights as you.',
    'If it was not you, revoke it and change your password immediately.'
  ),
  second_factor_changed: plain(
    'The second factor of your account',
    "{% if change == 'enrolled' %}A second factor was set up for your account on {{ at | moment }}.{% elsif change == 'removed' %}The second factor of your account was removed on {{ at | moment }}.{% elsif change == 'reset' %}The operator of the shop reset the second factor of your account on {{ at | moment }}. You log in with your password alone until you set up another one.{% elsif change == 'recovery_code_used' %}A recovery code of your account was used to log in on {{ at | moment }}.{% else %}The recovery codes of your account were replaced on {{ at | moment }}.{% endif %}",
    'If it was not you, change your password and contact us immediately.'
  ),
  email_changed: plain(
    'Your e-mail address was changed',
    'The e-mail address of your account was changed on {{ at | moment }}.',
    'If it was not you, please contact us immediately.'
  ),
  guest_data: linkMail(
    "{% if action == 'erase' %}Erase your data{% else %}See your data{% endif %}",
    "{% if action == 'erase' %}You asked us to erase the data of your orders. Please confirm.{% else %}You asked us for the data that we keep of your orders.{% endif %}",
    "{% if action == 'erase' %}Erase my data{% else %}Show my data{% endif %}",
    'If you did not request this, you can ignore this mail.'
  ),
  order_placed: orderMail(
    'Your order {{ order.number }}',
    'Thank you for your order {{ order.number }}.{% if order.payment_status == "paid" %} We have received your payment.{% elsif order.terms == "on_account" %} You pay it on account.{% elsif order.terms == "cod" %} You pay it when it is delivered.{% endif %}'
  ),
  order_paid: orderMail(
    'Your payment for order {{ order.number }}',
    'We have received your payment for order {{ order.number }}.'
  ),
  order_shipped: shipmentMail(
    'Your order {{ order.number }} is on its way',
    'This part of your order {{ order.number }} is on its way:'
  ),
  order_delivered: shipmentMail(
    'Your order {{ order.number }} has arrived',
    'This part of your order {{ order.number }} was delivered:'
  ),
  order_canceled: plain(
    'Your order {{ order.number }} is canceled',
    'Your order {{ order.number }} is canceled. Nothing more is shipped, and we refund what you have paid for it.'
  ),
  order_evicted: plain(
    '{% if outcome == "canceled" %}Your order {{ order.number }} is canceled{% else %}Your order {{ order.number }} has changed{% endif %}',
    'Your order {{ order.number }} was not paid yet, and another buyer has paid for the last units.',
    '{% if outcome == "canceled" %}We had to cancel your order. If you have paid in the meantime, you get a refund.{% else %}We had to cancel the items that are sold out. The rest is still reserved for you. The total is lower now, so please start the payment again.{% endif %}'
  ),
  order_refunded: plain(
    'Your refund for order {{ order.number }}',
    'We have refunded {{ amount | money: order.currency }} for order {{ order.number }}. It may take some days until the money arrives.'
  ),
  low_stock: plain(
    '{% if status == "out" %}Sold out{% else %}Running low{% endif %}: {{ variants[0].name }}',
    '{% for variant in variants %}{{ variant.name }} ({{ variant.sku }}){% unless forloop.last %}, {% endunless %}{% endfor %}: {{ available }} left.'
  ),
  unpaid_stock: plain(
    'Unpaid orders reserve {{ units }} units',
    '{{ orders }} unpaid orders of {{ buyers }} buyers reserve {{ units }} units. They came from {{ networks }} networks; one of them reserves {{ largest_network_units }} units.',
    'Most affected: {% for variant in variants %}{{ variant.name }} ({{ variant.sku }}): {{ variant.units }} units, {{ variant.percent }} %{% unless forloop.last %}; {% endunless %}{% endfor %}.',
    'If these orders are not genuine, cancel them, and lower orders.unpaid_stock or take bank transfer, cash on delivery and on account out of payments.manual_methods.'
  ),
  webhooks_off: plain(
    'Webhooks to {{ endpoint.host }} are switched off',
    'The shop has disabled the webhook endpoint {{ endpoint.host }}{% if endpoint.description != "" %} ({{ endpoint.description }}){% endif %}, because {% if reason == "gone" %}it answered that it is gone (410){% else %}every delivery has failed since {{ failing_since | moment }}{% endif %}.',
    'The last attempt: {{ error }}.{% if answer != "" %} The response began: {{ answer }}{% endif %}',
    'Events from now on are not stored for this endpoint. Deliveries that are waiting are sent when an administrator enables it again: PATCH /api/admin/webhooks/endpoints/{{ endpoint.id }} with {"active": true}.'
  )
}
