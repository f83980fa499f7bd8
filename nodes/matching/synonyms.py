"""Words and phrases that are said for each other, or of the same thing, when people need service.

They are general English of homes, shops, travel, money, health and machines, so that who says that
there is water everywhere is understood as one who has a leak. They only help to choose what a model
is asked about; nothing holds because of them.
"""

from __future__ import annotations

_SYNONYMS = """
    cancel, terminate, end, quit, stop, close, discontinue, revoke, call off, get rid of, opt out
    cancel, unsubscribe, opt out, leave, get out of, out of
    withdraw, take back, change my mind, back out, cooling off, regret
    refund, reimburse, reimbursement, repay, money back, pay back, paid back, compensation
    refund, give back, send back
    invoice, bill, receipt, statement
    payment, pay, transfer, transaction, debit
    charge, bill, debit, take money, deduct, withdraw
    price, cost, rate, tariff, fee, premium, quote, quotation, estimate, how much
    expensive, dear, costly, pricey, overpriced
    increase, rise, go up, raise, higher, hike, climb, dearer
    decrease, reduce, lower, go down, drop
    cheap, discount, voucher, coupon, promo, promotion, deal, offer, sale, saving, bargain, reduce
    instalment, installment, pay later, payment plan, monthly, in parts, spread, split, defer
    afford, debt, short of money, unemployed, lay off, lose job, redundant, bankrupt, struggle
    twice, double, duplicate, two times
    wrong, incorrect, mistake, error, false, inaccurate
    broken, break, damage, crack, smash, destroy, wreck, defective, faulty, ruin, shatter, dent
    not working, doesn't work, does not work, out of order, stop working, break, dead, fail
    error, bug, glitch, fault, problem, issue, trouble, failure
    crash, freeze, hang, stuck, unresponsive, close by itself
    crash, collision, collide, accident, hit, bump, run into, wreck, prang, scrape
    slow, lag, sluggish, takes forever
    steal, theft, rob, robbery, burglary, burglar, burgle, thief, break in, mug, snatch, pinch, nick
    lose, miss, disappear, vanish, go missing, can't find
    fire, burn, smoke, flame, blaze, scorch, char
    flood, leak, drip, water, burst, soak, pour, overflow
    storm, wind, hail, lightning, hurricane, gust, gale, tornado, thunder
    injury, injure, hurt, wound, bleed, harm
    ill, sick, unwell, illness, disease
    death, dead, die, pass away, funeral, deceased, bereavement
    danger, dangerous, emergency, unsafe, urgent, at risk
    doctor, physician, gp, medic, specialist
    appointment, meeting, booking, reservation, slot, visit
    reschedule, postpone, move, shift, another day, different time
    call back, callback, ring back, phone back, call me, ring me, get back to me, give me a call
    call, phone, ring, telephone
    phone, mobile, cell, smartphone, handset, iphone, telephone
    laptop, computer, notebook, pc, macbook
    tablet, ipad
    internet, wifi, broadband, connection, network, router
    website, page, site, web page, homepage, portal, browser
    app, application, software, program
    log in, log on, login, sign in, sign on, logon, access, get in, get into, enter, lock out
    password, passcode, credentials, username
    account, profile
    code, one-time, otp, sms, text, digit
    email, mail, e-mail, inbox
    address, street, postcode, zip code
    move, relocate, moving house, new place, new home, new flat, new house, new apartment
    surname, last name, maiden name, family name, name
    marry, divorce, wedding, get married
    change, update, switch, amend, correct, edit, modify
    home, house, flat, apartment, property, residence
    car, vehicle, auto, automobile, van, truck
    bicycle, bike, cycle
    rental, hire, rent, courtesy, loan, replacement
    repair, fix, mend, garage, workshop, mechanic, body shop
    technician, engineer, repairman, mechanic, plumber, electrician
    replace, replacement, exchange, swap
    order, purchase, buy
    return, send back, give back, bring back
    delivery, deliver, shipment, shipping, ship, parcel, package, courier, dispatch
    late, delay, overdue, hold up, wait
    arrive, come, receive, get
    track, status, progress, any news, how far, update, how long, hear back, stage
    reject, deny, decline, refuse, turn down, denial, refusal
    disagree, appeal, dispute, object, contest, unfair, unjust, challenge
    decision, decide, verdict, outcome
    accept, approve, agree
    complaint, complain, unhappy, dissatisfied, unacceptable, grievance, ombudsman
    angry, furious, annoyed, mad, upset, frustrated, ridiculous, outrageous
    worry, scare, afraid, fear, anxious, nervous, frightened, panic
    human, person, agent, representative, advisor, adviser, operator, staff, employee, colleague
    manager, supervisor, boss
    lawyer, attorney, solicitor, court, sue, legal, lawsuit, barrister, judge
    police, cop, officer, sheriff, constable
    scam, fraud, phishing, fake, suspicious, hoax, impostor, pretend, spoof
    privacy, personal data, information, gdpr, confidential, data
    delete, erase, remove, wipe
    document, paper, certificate, proof, letter, file, confirmation
    photo, picture, image, pic, photograph, snapshot, screenshot, camera
    send, submit, upload, attach, email, post
    insurance, cover, coverage, policy, plan, contract, protection
    contract, agreement, subscription, plan, policy, membership
    cover, insure, include, protect
    claim, case
    excess, deductible, pay myself, own share, out of pocket, franchise
    liability, liable, my fault, responsible
    renew, renewal, extend, extension, prolong, automatically
    payout, pay out, settlement, payment
    bank, iban, account number, sort code, direct debit
    card, credit card, debit card, visa, mastercard, cvv
    decline, bounce, not go through, fail, refuse
    contact, reach, get in touch, get hold of, hotline
    where, location, branch, office, nearest, near me
    trip, travel, journey, holiday, vacation, cruise, tour
    flight, plane, airline, fly
    luggage, baggage, bag, suitcase, backpack
    train, rail, railway
    abroad, overseas, foreign country, on holiday, on vacation
    mother, mum, mom, father, dad, parent
    husband, wife, spouse, partner
    grandmother, grandma, gran, grandfather, grandpa
    child, kid, baby, son, daughter
    behalf, speak for, authorise, power of attorney, carer, guardian
    neighbour, neighbor, next door, upstairs, downstairs
    someone else, somebody else, another person, friend
    allergic, allergy, intolerant
    pregnant, pregnancy, expecting
    job, work, employer, employment
    money, cash, fund
    colour, color
    confirm, confirmation, verify, verification
    insure, insurance, insurer
    complain, complaint
    explain, understand, confuse, unclear
"""
_FIELDS = """
    water, rain, pipe, tap, faucet, leak, drip, flood, wet, damp, soak, burst, boiler, radiator
    water, washing machine, dishwasher, drain, toilet, sink, bath, plumber, ceiling, mould, puddle
    fire, burn, smoke, flame, stove, oven, candle, ash, soot, chimney, spark, melt, singe, toaster
    fire, firefighter, fire brigade, fire department, fireman, extinguisher, grill, fireplace
    storm, wind, hail, gale, lightning, thunder, snow, tree, branch, roof, tile, fence, blow, gutter
    theft, steal, burglary, gone, missing, vanish, lock, break-in, wallet, purse, jewellery, thief
    accident, crash, collision, bump, skid, swerve, brake, bumper, fender, windscreen, windshield
    accident, crash, collision, road, junction, roundabout, traffic light, lane, kerb, lamppost
    accident, collision, drive into, run over, reverse into, hit, rear, pole, ditch, motorway, truck
    car, vehicle, drive, motorbike, motorcycle, scooter, moped, wheel, tyre, tire, engine, lorry
    car, bought, sell, registration, number plate, license plate, dealer
    hurt, injury, bleed, blood, arm, leg, neck, head, wrist, ankle, bruise, ambulance, hospital
    hurt, injury, danger, pain, unconscious, faint, breathe, stitch, bone, paramedic, limp
    ill, sick, fever, vomit, throw up, cough, doctor, hospital, clinic, medicine, pharmacy
    ill, sick, infection, flu, virus, treatment, surgery, nurse, food poisoning, cancer, stroke
    abroad, foreign, hospital, hotel, beach, island, embassy, country
    death, die, funeral, widow, widower, widowed, grief, cemetery, loss, late husband, late wife
    afford, hardship, debt, unemployed, rent, bankrupt, tight, trouble, salary, income, benefit
    blind, see, eye, sight, vision, glasses, small print, font, letter, large print, braille, read
    deaf, hear, ear, hearing aid, sign language, subtitle, loud, lip, read
    login, password, forget, reset, lock, username, credentials, account, enter
    code, text message, sms, authenticator, digit, expire, verification, two-factor
    app, install, download, update, screen, load, open, tap, android
    website, page, link, browser, button, form, click, load, error, blank, internet, submit
    move, house, flat, apartment, street, landlord, town, city, address, removal, keys
    name, spell, letter, marry, divorce, wedding, passport, surname
    number, phone, mobile, email, contact, sim
    bank, account, switch, debit, pay, transfer
    payment, card, fail, decline, bounce, transaction, error
    charge, twice, debit, overpay, extra, too much, statement, wrong
    price, premium, increase, expensive, last year, went up, jump
    discount, cheap, student, loyalty, competitor, offer, code
    quote, price, how much, cost, insure, offer, per month, per year
    cover, insure, include, policy, pay for, exclude
    driver, drive, licence, license, add, learner
    document, certificate, policy, proof, paper, landlord, embassy, authority
    invoice, receipt, statement, tax, accountant, expense
    opening hours, open, close, saturday, sunday, weekend, holiday, hours
    reach, phone number, hotline, branch, office, visit, address
    callback, call, ring, appointment, book
    phone, laptop, tablet, screen, drop, crack, display, battery, keyboard, camera
    trip, flight, holiday, hotel, cancel, delay, airport, airline, cruise, train, strike
    luggage, suitcase, bag, airport, airline, belt, carousel, arrive, check in, zip
    trip, journey, early, interrupt, come home
    liability, knock over, spill, ball, window, dog, bite, neighbour, friend, belong, someone else
    damage, break, belong, neighbour, friend, somebody's, someone's
    status, progress, wait, week, month, hear, update, claim, respond, reply
    reject, refuse, deny, decision, letter, unfair, appeal, wrong, review, reconsider
    payout, paid, money, claim, settle, transfer, account, receive
    home, stay, live, sleep, hotel, uninhabitable, roof, bed, landlord, tenant, move out, nowhere
    police, report, crime, officer, station, arrest, case number, statement, reference
    photo, picture, send, upload, attach, file, video, camera, format
    excess, pay, share, deductible, part, percentage, myself, contribution
    repair, garage, workshop, mechanic, estimate, fix, dealer, glass
    rental, hire, car, replacement, get to work, courtesy
    renewal, expire, end, run out, next year, automatically
    person, human, talk, speak, someone, robot, bot, machine, chatbot, real
    scam, link, pretend, claim to be, suspicious, pin, email, call, text, phone, genuine
    card, number, expiry, visa, digits, security, safe
    data, information, keep, store, delete, personal, share
    complaint, service, bad, manager, formal, letter, feedback
    lawyer, court, sue, legal, action, law, solicitor
    delivery, parcel, order, courier, track, package, arrive, address, late
    internet, router, wifi, slow, connection, line, signal, outage, down, offline
    login, log in, account, let me in, recognise, invalid, username, sign, locked, reset, details
    app, shut down, close, loading, spin, black screen, stuck, phone
    website, load, spin, time out, server, white screen, nothing happens, form, press
    move, live, settle, flat, street, road, postman, forward, new address
    name, call, typo, misspell, misspelt, deed poll, passport, wrong, spell
    contact, number, mobile, new number, inbox, reach
    bank, building society, standing order, switch bank, change bank, account
    payment, go wrong, not accept, went through, reject, bounce, decline, try again
    charge, too high, too much, more than, agree, two payments
    invoice, proof of payment, breakdown, accountant, tax, copy, bill
    price, dear, gone up, pay more, cost more, last year, premium
    instalment, bit by bit, each month, every month, next month, payday, lump sum, all at once
    instalment, several payments, in one go, split
    refund, my money, return my money, give me back, unused, reverse
    cancel, no longer need, not need, leave, switch to another, stop, another company, finish
    withdraw, last week, days ago, just signed, just bought, sign up, take out, regret
    renewal, run out, expire, next year, end, continue
    quote, would it cost, would cost, how much would, get insured, interested, offer
    discount, money off, price match, bonus, percent, reduction, cheaper elsewhere
    cover, protect, what happens if, would you pay, does it pay, abroad
    driver, behind the wheel, drive my, son, daughter, roommate, girlfriend, boyfriend, learner
    car, trade, part exchange, scrap, new vehicle, old one, buy, sell
    document, booklet, proof, copy, lose, letter, print, resend
    open, phone line, counter, bank holiday, closed, lunch, sunday, shut
    callback, phone me, someone to ring, call, meet, ring, speak on the phone, good time
    accident, drive into, hit, tree, deer, wall, post, knock, bonnet, hood, mirror, headlight, bus
    accident, van, taxi, tram, pull out, cut me off, door, knocked off, overturn, pile-up
    water, pour, bath, carpet, washing machine, sodden, hose, sprinkler, tank, heater, wet, cellar
    theft, not there anymore, force, empty, pickpocket, alarm, shed, garage, gone
    fire, fire engine, smoulder, electrical, plug, socket, fryer, pan, barbecue, ash, candle
    storm, blow off, blow over, tile, chimney, fence, come down, shed, greenhouse, weather, branch
    phone, fall, fell, drop, toilet, turn on, smash, tablet, display, spill, coffee
    trip, miss, connection, come home early, tour operator, call off, snow, strike, stuck, book
    luggage, case, belongings, turn up, airline, airport, pram, pushchair
    ill, treat, spain, france, italy, greece, turkey, thailand, mexico, america, consulate, embassy
    abroad, spain, france, italy, greece, turkey, thailand, mexico, america, doctor, holiday, trip
    damage, scratch, knock over, kick, football, vase, carpet, borrow, lend, accidentally, stain
    status, hear, haven't heard, nothing, silence, wait, week, month, ago, form, anything new
    reject, won't pay, say no, said no, refuse to pay, reconsider, not happy, wrong, turn me down
    payout, get the money, see the money, in my account, cheque, check, bank
    home, cannot stay, can't live, nowhere to sleep, evacuate, board up, ruin, collapse, hotel, move
    photo, snap, video, phone, camera, evidence, show you, gallery
    excess, first part, how much of it, contribute, pay towards, pay out of, share
    repair, who fixes, take it, drop it off, approve, dealership, bodywork, bumper, windscreen
    rental, something to drive, get to work, without a car, no car, school run
    human, someone, anybody, anyone, speak to, talk to, robot, real, put me through, operator
    injury, ambulance, trap, unconscious, concussion, stitches, hospital, bleed, burn, swollen
    lawyer, small claims, take you to court, law, rights, case, sue, solicitor, legal advice
    complaint, ombudsman, manager, formal, appalling, disgrace, terrible, awful, write, rude
    card, sixteen, expiry, long number, security number, pay by, credit, debit
    privacy, know about me, hold about me, record, erase, my details, consent, marketing
    death, lose my husband, lose my wife, widow, funeral, estate, passed, chemo, diagnosis, illness
    afford, redundancy, food bank, make ends meet, savings, benefit, job, wage, hours cut
    behalf, gran, carer, for my neighbour, her policy, his policy, his account, grandson
    scam, odd, strange, claim to be, link, genuine, ask for my, bank details, weird, spoof
    blind, tiny, cannot read, bigger, glasses, dyslexia, dyslexic, print, deaf, caption, hard of
    electricity, gas, meter, reading, power, energy, supplier, tariff, outage
    data, roaming, abroad, allowance, mobile, signal, contract, sim
    size, fit, return, exchange, shirt, shoe, dress, colour, shop
    food, menu, allergy, vegan, vegetarian, table, restaurant, meal, nut
    doctor, prescription, medicine, tablet, dose, pharmacy, symptom, pain, test, result, blood
    school, course, class, lesson, teacher, exam, student, enrol, register
    hotel, room, check in, check out, breakfast, towel, key, bed, noise, reception
    flight, seat, boarding, gate, check in, luggage, upgrade, miles
    loan, mortgage, interest, rate, credit, debt, repay, borrow
    salary, tax, payroll, wage, pension, holiday, sick leave, employer
    parking, park, permit, fine, ticket, space
    pet, dog, cat, vet, animal
    noise, loud, neighbour, music, party
    software, licence, license, install, version, update, key, activate
    order, basket, checkout, stock, available, sold out
    warranty, guarantee, repair, replace, broken, receipt
"""


def synonym_groups() -> tuple[tuple[str, ...], ...]:
    """Return the groups of words and phrases that are said for each other."""
    return _groups(_SYNONYMS)


def fields() -> tuple[tuple[str, ...], ...]:
    """Return the groups of words and phrases that are said of the same thing."""
    return _groups(_FIELDS)


def _groups(text: str) -> tuple[tuple[str, ...], ...]:
    lines = text.strip().splitlines()
    return tuple(tuple(phrase.strip() for phrase in line.split(",")) for line in lines)
