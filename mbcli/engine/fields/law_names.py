"""Laws of constraints in a step: files of engine/contact/laws. Arrays number them from 0 on, laws of contact first."""

from mbcli.config.contact_laws import CONTACT_LAWS

LAW_NAMES = (*CONTACT_LAWS, "bounded", "equality", "torsional", "stuck")
