import { describeContract } from './describe-contract.ts'

describeContract('pricing', 'payments', 'shipping')
