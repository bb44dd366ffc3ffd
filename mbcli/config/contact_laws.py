"""The laws of contact in a discrete step: files of engine/contact/laws. Configurations and arrays know them so."""

CONTACT_LAWS = (
    "tamsi",
    "sap",
    "similar",
    "lagged",
    "mujoco",
)
SOFT_LAWS = CONTACT_LAWS[-1:]  # contact and limits are as soft as files of MuJoCo say
