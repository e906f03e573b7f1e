# SPDX-License-Identifier: Apache-2.0
# boringssl::ssl and boringssl::crypto: the pinned BoringSSL, the same static build that nginx gets.
if(HOPYARD_BORINGSSL_ROOT)
  set(boringssl_root ${HOPYARD_BORINGSSL_ROOT})
else()
  message(FATAL_ERROR "building BoringSSL from the pin is not wired yet: pass -DHOPYARD_BORINGSSL_ROOT")
endif()
foreach(library crypto ssl)
  add_library(boringssl::${library} STATIC IMPORTED GLOBAL)
  set_target_properties(boringssl::${library} PROPERTIES
    IMPORTED_LOCATION ${boringssl_root}/lib/lib${library}.a
    INTERFACE_INCLUDE_DIRECTORIES ${boringssl_root}/include)
endforeach()
set_property(TARGET boringssl::crypto PROPERTY INTERFACE_LINK_LIBRARIES Threads::Threads)
set_property(TARGET boringssl::ssl PROPERTY INTERFACE_LINK_LIBRARIES boringssl::crypto)
